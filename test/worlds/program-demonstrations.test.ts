/** What the programs' warm start is shown: well-formed, never held out, fitting the model, imperfect by the intended share. */
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { mean } from '../../core/rl/statistics.ts';
import { characterTokenizer } from '../../core/text/characters.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { demonstratePrograms, programSolution } from '../../worlds/programs/demonstrations.ts';
import { behaviourOfTask, KINDS, parseProgramProposal, programs } from '../../worlds/programs/family.ts';
import { isHeldOutProgram } from '../../worlds/programs/generate.ts';
import { parseProgram } from '../../worlds/programs/language.ts';
import {
  abduction,
  deduction,
  induction,
  MAX_REFERENCES,
  proposerPromptWith,
  randomQuestion,
} from '../../worlds/programs/questions.ts';
import { edited, slippedRun } from '../../worlds/programs/slips.ts';

const random = new Random('program demonstrations');
const drawn = Array.from({ length: 1500 }, () => demonstratePrograms(random));
const proposals = drawn
  .filter(({ role }) => role === 'proposer')
  .map(({ prompt, completion }) => {
    const kind = KINDS.find((name) => prompt.startsWith(`<propose>${name[0]}:`))!;
    const shown = prompt.slice('<propose>d:'.length, -'<sep>'.length).split(';').filter(Boolean);
    return { kind, shown, task: parseProgramProposal(kind, shown, completion) };
  });

test('every proposal is a task on the training side, beside references on the training side', () => {
  expect(proposals.length).toBeGreaterThan(200);
  for (const { shown, task } of proposals) {
    expect(task.ok && programs.isHeldOut(task.value)).toBe(false);
    expect(task.ok).toBe(true);
    for (const text of shown) {
      const program = parseProgram(text);
      expect(program.ok && !isHeldOutProgram(program.value)).toBe(true);
    }
  }
});

test('proposals differ from what they are shown, and most are one word away from it', () => {
  const beside = proposals.filter(({ kind, shown }) => kind !== 'induction' && shown.length > 0);
  const words = (text: string) => text.split(' ');
  let repeated = 0;
  const near = beside.map(({ shown, task }) => {
    const text = task.ok ? task.value.slice(2).split(';')[0]! : '';
    repeated += Number(shown.includes(text));
    // One word exchanged, added or left out: the longer has at most one word that the other lacks.
    return shown.some((other) => {
      const [short, long] = [words(text), words(other)].sort((a, b) => a.length - b.length);
      const lacking = long!.filter((word) => !short!.includes(word)).length;
      return long!.length - short!.length <= 1 && lacking <= 1;
    });
  });
  // A new program is by chance the same now and then.
  expect(repeated / beside.length).toBeLessThan(0.02);
  expect(mean(near.map(Number))).toBeGreaterThan(0.65);
});

test('every token is known, and the longest prompt leaves room for its completion in 256 positions', () => {
  const tokenizer = openTokenizer(characterTokenizer().json);
  for (const { prompt, completion } of drawn) {
    const ids = tokenizer.encode(prompt + completion);
    expect(ids).not.toContain(tokenizer.id('<unk>'));
    expect(ids.length).toBeLessThanOrEqual(256);
  }
  const longest = Array.from({ length: MAX_REFERENCES }, () => 'drop '.repeat(8).padEnd(56));
  const room = 256 - tokenizer.encode(proposerPromptWith('deduction', longest)).length;
  expect(room).toBeGreaterThanOrEqual(deduction.maxNew.proposer);
});

test.each([deduction, abduction, induction])(
  'solutions of $name: three quarters right, all well-formed',
  (family) => {
    const kind = KINDS.find((name) => family.name.endsWith(name))!;
    const right = Array.from({ length: 300 }, () => {
      const task = randomQuestion(kind, random);
      return Number(family.exactJudgment(task, programSolution(random, kind, task)).right);
    });
    // 75 % without a slip; some slips do not matter.
    expect(mean(right)).toBeGreaterThan(0.66);
    expect(mean(right)).toBeLessThan(0.93);
  },
);

test('a slip is carried on: the steps after it follow from the wrong list', () => {
  const program = parseProgram('+1 rev');
  if (!program.ok) throw new Error(program.reason);
  const seen = new Set<string>();
  for (let i = 0; i < 200; i++) {
    const { steps, answer } = slippedRun(random, program.value, [
      [2, 3],
      [3, 2],
    ]);
    expect(answer).toBe(steps[1]);
    if (steps[0] !== '2 3') expect(steps[1]).toBe(steps[0]!.split(' ').reverse().join(' '));
    expect(answer).not.toBe('3 2');
    seen.add(steps.join('|'));
  }
  // Either step, either element, four amounts.
  expect(seen.size).toBe(16);
});

test('an edit is always another text', () => {
  for (let i = 0; i < 300; i++) {
    const text = randomQuestion('deduction', random).split(';')[0]!;
    const other = edited(random, text);
    expect(Math.abs(other.split(' ').length - text.split(' ').length)).toBeLessThanOrEqual(1);
  }
});

test('the family of all kinds: a task carries its kind, text without one is nothing', () => {
  expect(programs.solverPrompt('a:sort;3 1 2')).toBe('<solve>a:sort;1 2 3<sep>');
  expect(programs.answerIsExact('a:sort;3 1 2', { steps: [], answer: '2 3 1' })).toBe(true);
  expect(programs.answerIsExact('d:sort;3 1 2', { steps: [], answer: '2 3 1' })).toBe(false);
  expect(programs.answerIsExact('sort;3 1 2', { steps: [], answer: '1 2 3' })).toBe(false);
  expect(programs.solverPrompt('x')).toBe('');
  expect(parseProgramProposal('induction', ['rev'], '1;2;3;4;5;6;7;8<eos>')).toEqual({
    ok: true,
    value: 'i:rev;1;2;3;4;5;6;7;8',
  });
  expect(parseProgramProposal('deduction', ['rev'], '1<eos>').ok).toBe(false);
  expect(behaviourOfTask('d:rev rev;1')).toBe(behaviourOfTask('a:+0;1'));
  expect(behaviourOfTask('d:rev;1')).not.toBe(behaviourOfTask('d:+0;1'));
});

test('held-out tasks are a hundred of each kind, all of held-out programs', () => {
  const tasks = programs.heldOut();
  for (const kind of KINDS) expect(tasks.filter((task) => task.startsWith(`${kind[0]}:`))).toHaveLength(100);
  expect(tasks.every(programs.isHeldOut)).toBe(true);
});
