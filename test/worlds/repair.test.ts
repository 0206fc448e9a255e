import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { gate, parseBug, parseInjection, randomBug, repair, withBug } from '../../worlds/programs/repair.ts';
import { demonstrateRepair } from '../../worlds/programs/repair-demonstrations.ts';

/** Reverses, then adds 3: 1 2 becomes 5 4. */
const REPOSITORY = 'rev +3;0;7 1;4 4;_';
const TASK = 'rev +3;rev -3;1 2;0;7 1;4 4;_';

test('an injector writes a program and the input of a test; the repository gives the rest', () => {
  expect(parseInjection(REPOSITORY, 'rev -3;1 2<eos>')).toEqual({ ok: true, value: TASK });
  const refused = (text: string) => {
    const parsed = parseInjection(REPOSITORY, text);
    return parsed.ok ? 'ok' : parsed.reason;
  };
  expect(refused('rev -3;1 2')).toBe('off-grammar');
  expect(refused('rev -3<eos>')).toBe('off-grammar');
  expect(refused('rev -3;1 2;3<eos>')).toBe('off-grammar');
  expect(refused('rev - 3;1 2<eos>')).toBe('off-grammar');
  expect(refused('rev -3;1,2<eos>')).toBe('off-grammar');
  // A test that is there already.
  expect(refused('rev -3;0<eos>')).toBe('repeated-input');
  // The program itself has no result on two of the inputs: nothing is on a stack.
  expect(parseBug('dup;rev;_;1;2;3;4')).toEqual({ ok: false, reason: 'undefined' });
});

test('a bug that no test shows, and an edit that does not matter, are refused', () => {
  expect(gate(TASK)).toBeNull();
  // No edit, and one that changes nothing on these lists: of 1 2 both reverse what they add to.
  expect(gate(withBug(TASK, 'rev +3'))).toBe('no-failing-test');
  expect(gate(withBug(TASK, '+3 rev'))).toBe('no-failing-test');
  // On a list of one element rev is idle: `sort +4` fails by +4 alone, and to take back `sort` repairs no test.
  const single = 'rev +3;sort +4;1;0;7;4;_';
  expect(gate(single)).toBe('idle-edit');
  // `+1 *3` repairs the test -1, and `+2 *2` none.
  expect(gate('+1 *2;+2 *3;1;0;-1;4;_')).toBe('idle-edit');
  // One edit alone is what makes the test fail.
  expect(gate('+1 *2;+2 *2;1;0;-1;4;_')).toBeNull();
  // A bug that ends in no result fails its test.
  expect(gate('rev;drop drop;1;2;3;4;5')).toBeNull();
  // Words are added or left out: there is nothing to take back one by one.
  expect(gate('rev +3;+3;1 2;0;7;4;_')).toBeNull();
});

test('who repairs sees the bug, what is asked for and two tests; all five decide', () => {
  expect(repair.solverPrompt(TASK)).toBe('<solve>r:rev -3;1 2!5 4;0=3;7 1=4 10<sep>');
  const right = (answer: string) => repair.answerIsExact(TASK, { steps: [], answer });
  expect(right('rev +3')).toBe(true);
  expect(right('+3 rev')).toBe(true);
  expect(right('rev -3')).toBe(false);
  // 1 2 becomes 4 5.
  expect(right('sort +3')).toBe(false);
  expect(repair.parseSolution(TASK, '<answer>rev +3<eos>')).toEqual({
    ok: true,
    value: { steps: [], answer: 'rev +3' },
  });
  for (const text of ['<answer>rev +30<eos>', '<step>rev<answer>rev<eos>', '<answer>rev +3', 'rev +3<eos>'])
    expect(repair.parseSolution(TASK, text).ok, text).toBe(false);
});

test('a hidden test decides where the shown ones are passed', () => {
  // `>0` leaves out the -7 of a test that is not shown, and passes the others.
  const task = '+0 rev;+1 rev;1 2;3 4;5;6 -7;8';
  expect(repair.answerIsExact(task, { steps: [], answer: '>0 rev' })).toBe(false);
  expect(repair.answerIsExact(task, { steps: [], answer: 'rev' })).toBe(true);
});

test('random bugs pass every gate, and held-out ones are of held-out programs', () => {
  const random = new Random('bugs');
  for (let i = 0; i < 100; i++) {
    const task = repair.random(random);
    expect(gate(task)).toBeNull();
    expect(repair.isHeldOut(task)).toBe(false);
    expect(repair.answerIsExact(task, { steps: [], answer: task.split(';')[0]! })).toBe(true);
    expect(repair.answerIsExact(task, { steps: [], answer: task.split(';')[1]! })).toBe(false);
  }
  expect(gate(randomBug(random, REPOSITORY))).toBeNull();
  const heldOut = repair.heldOut();
  expect(heldOut).toHaveLength(150);
  expect(heldOut.every(repair.isHeldOut)).toBe(true);
});

test('demonstrations are well-formed, on the training side, and repair three of five bugs', () => {
  const random = new Random('demonstrations');
  let [repairs, right, injections, set] = [0, 0, 0, 0];
  for (let i = 0; i < 600; i++) {
    const { role, prompt, completion } = demonstrateRepair(random);
    expect(completion.endsWith('<eos>')).toBe(true);
    if (role === 'proposer') {
      injections++;
      const program = /^<propose>d:(.+)<sep>$/.exec(prompt)![1]!;
      const parsed = parseInjection(`${program};1;2 3;4;_`, completion);
      set += Number(parsed.ok && gate(parsed.value) === null);
    } else {
      repairs++;
      expect(prompt).toMatch(/^<solve>r:.+;.+!.+;.+=.+;.+=.+<sep>$/);
      const answer = /^<answer>(.+)<eos>$/.exec(completion)![1]!;
      expect(repair.parseSolution('', completion).ok).toBe(true);
      const shown = prompt.slice('<solve>r:'.length, prompt.indexOf(';'));
      right += Number(answer !== shown);
    }
  }
  expect(injections / 600).toBeGreaterThan(0.2);
  expect(injections / 600).toBeLessThan(0.3);
  expect(right / repairs).toBeGreaterThan(0.6);
  // Not every injection is a bug that can be set: there is something to learn.
  expect(set).toBeGreaterThan(0);
  expect(set).toBeLessThan(injections);
});
