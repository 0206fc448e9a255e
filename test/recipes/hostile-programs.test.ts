/**
 * Programs that policies write run within bounds: a hostile one costs its author's reward and nothing else. The round goes on, and all others are
 * paid as without it.
 */
import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { execute, LIMITS } from '../../worlds/programs/interpreter.ts';
import { parseProgram } from '../../worlds/programs/language.ts';
import { playSolver } from './play-solver.ts';

const evoenv = shipped.find('evoenv');
const ssrSwe = shipped.find('ssr-swe');

/** Programs, with why each is refused where it has to have a result. */
const HOSTILE: readonly (readonly [what: string, program: string, refused: string])[] = [
  ['an endless loop', '( )', 'fuel'],
  ['an endless loop that works', '( +1 -1 )', 'fuel'],
  ['deep nesting that never ends', '( ( ( ( ( ( ( +0 ) ) ) ) ) ) )', 'fuel'],
  ['nesting deeper than a program may be', `${'( '.repeat(30)}+1${' )'.repeat(30)}`, 'too-long'],
  ['a call of itself, as deep as text goes', '( '.repeat(90).trim(), 'too-long'],
  ['huge output', '( dup )', 'memory'],
  ['a huge number', '( *9 )', 'overflow'],
  ['what the host would run', 'process.exit', 'off-grammar'],
];

test.each(HOSTILE)('%s stops with a reason, within its fuel', (_what, text, refused) => {
  const program = parseProgram(text);
  const run = program.ok ? execute(program.value, [1, 2, 3]) : program;
  expect(run).toEqual({ ok: false, reason: refused });
});

test('the bounds are those of the interpreter: fuel is spent to the end and not beyond', () => {
  const loop = parseProgram('( +1 -1 )');
  if (!loop.ok) throw new Error('it is a program');
  const steps = (fuel: number) => execute(loop.value, [1], { ...LIMITS, fuel });
  expect([steps(1), steps(7), steps(100_000)].map((run) => run.ok)).toEqual([false, false, false]);
});

const FAIR = '+1;1 2';

/** Two deductions, two abductions, two inductions; the first deduction is what is asked for here. */
async function round(first: string) {
  const left = [first, FAIR, 'rev;1 2', 'sum;1 2', '1;2;3;4;5;6;7;8', '9;8;7;6;5;4;3;2'];
  const { proposals, groups, plan } = await playSolver(
    { recipe: 'azr', tasks: 6, groupSize: 2 },
    (task, i) => (task.startsWith('<propose>') ? left.shift()! : ['<answer>2 3', '<answer>9'][i]!),
  );
  return { proposals, groups, plan };
}

test.each(HOSTILE)(
  'azr: %s, proposed, is refused and pays for it, and nobody else does',
  async (_what, program) => {
    const { proposals, groups, plan } = await round(`${program};1 2 3`);
    const [hostile, ...others] = proposals.samples;
    expect(hostile!.outcome).not.toBe('ok');
    expect(others.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok']);
    expect(groups.map(({ task }) => task)).not.toContain(`d:${program};1 2 3`);
    const fair = await round('-9;1 2 3');
    const paid = (tasks: typeof groups) =>
      tasks
        .filter(({ task }) => task !== 'd:-9;1 2 3')
        .map(({ task, samples }) => [task, samples.map(({ rewards }) => rewards)]);
    expect(paid(groups)).toEqual(paid(fair.groups));
    // The round trains: its author's advantage is below that of the other proposer of deductions.
    const [author, other] = (plan.updates[0]!.parts[0] as PolicyPart).items;
    expect(author!.advantage as number).toBeLessThan(other!.advantage as number);
  },
);

test.each(HOSTILE)(
  'azr: %s, answered to an induction, is wrong and costs its author alone',
  async (_what, program) => {
    const left = [FAIR, FAIR, 'rev;1 2', 'sum;1 2', '1;2;3;4;5;6;7;8', '9;8;7;6;5;4;3;2'];
    const { groups } = await playSolver({ recipe: 'azr', tasks: 6, groupSize: 2 }, (task, i) =>
      task.startsWith('<propose>') ? left.shift()! : [`<answer>${program}`, '<answer>+1'][i]!,
    );
    const induction = groups.find(({ task }) => task.startsWith('i:'))!;
    const [hostile, honest] = induction.samples.map(({ rewards }) => rewards.reward!);
    expect(hostile).toBeLessThan(0);
    expect(honest).toBe(1);
  },
);

test.each(HOSTILE)('ssr-swe: %s, as a bug or as a repair, ends no round', async (_what, hostile) => {
  const { proposals, groups } = await playWritten(
    ssrSwe,
    (prompt, i) => {
      const program = /^<propose>d:(.+)<sep>$/.exec(prompt)?.[1];
      if (program !== undefined) return [`${hostile};5 6 7<eos>`, `${program} len;5 6 7<eos>`][i % 2]!;
      const bug = /^<solve>r:([^;]+);/.exec(prompt)![1]!;
      return [`<answer>${hostile}<eos>`, `<answer>${bug.replace(/ len$/, '')}<eos>`][i]!;
    },
    { tasks: 4, groupSize: 2 },
  );
  expect(proposals.samples[1]!.outcome).toBe('ok');
  const fair = groups.find(({ proposal }) => proposal === proposals.samples[1]!.id)!;
  expect(fair.samples.map(({ rewards }) => rewards.reward)).toEqual([-1, 1]);
});

test.each(HOSTILE)(
  'evoenv: %s, as a sampler or as a reference, is refused and costs its author alone',
  async (_what, hostile) => {
    const written = (first: string, second: string) =>
      playWritten(
        evoenv,
        (prompt, i) => {
          if (prompt.startsWith('<propose>')) return `${[first, second, 'd:+1;rev +3', 'd:+1;sum'][i]!}<eos>`;
          return prompt.startsWith('<judge>') ? '<right><eos>' : ['<answer>1<eos>', '<answer>2<eos>'][i % 2]!;
        },
        { tasks: 2, groupSize: 4 },
      );
    const { proposals, groups, plan } = await written(`d:${hostile};rev`, `a:+1;${hostile}`);
    const outcomes = proposals.samples.map(({ outcome }) => outcome);
    expect(outcomes.slice(0, 2)).not.toContain('ok');
    expect(outcomes[2]).toBe('ok');
    for (const { task } of groups) expect(task).not.toContain(hostile);
    // Two that are refused for another reason leave the same round.
    const fair = await written('d:+1;*0', 'd:+1;*0');
    const paid = (all: typeof groups) =>
      all.map(({ task, samples }) => [task, samples.map(({ rewards }) => rewards)]);
    expect(paid(groups)).toEqual(paid(fair.groups));
    expect(plan.updates).toHaveLength(1);
  },
);
