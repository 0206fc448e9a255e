/** What the warm starts of equations, derivations and games are shown: well-formed, on the training side, as imperfect as they say. */
import { describe, expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { demonstrateEquation } from '../../worlds/equations/demonstrations.ts';
import { equations } from '../../worlds/equations/family.ts';
import { demonstrateGame } from '../../worlds/games/demonstrations.ts';
import { demonstrateRewriting } from '../../worlds/rewriting/demonstrations.ts';
import { rewriting } from '../../worlds/rewriting/family.ts';

const COUNT = 3000;
const drawn = (demonstrate: typeof demonstrateGame, seed: string, count = COUNT) => {
  const random = new Random(seed);
  return Array.from({ length: count }, () => demonstrate(random));
};
const share = (values: readonly boolean[]) => values.filter(Boolean).length / values.length;
/** Five standard errors of a share near a half. */
const near = (count: number) => 2.5 / Math.sqrt(count);

describe.each([
  // Half worked, and half of the rest right by a glance.
  { family: equations, demonstrate: demonstrateEquation, solved: 0.75, upright: 0.35 + 0.2 * 0.5 },
  { family: rewriting, demonstrate: demonstrateRewriting, solved: 0.75, upright: 0.4 },
])('$family.name', ({ family, demonstrate, solved, upright }) => {
  const all = drawn(demonstrate, family.name);
  const of = (role: string) => all.filter((it) => it.role === role);
  const taskOf = (prompt: string) => /^<(?:solve|judge)>(.+?)<sep>/.exec(prompt)![1]!;

  test('solvers write solutions, right as often as meant, of tasks that are not held out', () => {
    const right = of('solver').map(({ prompt, completion }) => {
      const task = taskOf(prompt);
      const solution = family.parseSolution(task, completion);
      expect(family.isHeldOut(task)).toBe(false);
      if (!solution.ok) throw new Error(`${completion} is ${solution.reason}`);
      return family.answerIsExact(task, solution.value);
    });
    expect(right.length).toBeGreaterThan(0.4 * COUNT);
    expect(Math.abs(share(right) - solved)).toBeLessThan(near(right.length));
  });

  test('judges say what the oracle says of what they are shown', () => {
    const right = of('judge').map(({ prompt, completion }) => {
      const [, shown = ''] = /^<judge>.+?<sep>(.+)<sep>$/.exec(prompt)!;
      const solution = family.parseSolution(taskOf(prompt), `${shown}<eos>`);
      if (!solution.ok) throw new Error(`${shown} is ${solution.reason}`);
      const judgment = family.parseJudgment(solution.value, completion);
      expect(judgment).toEqual({ ok: true, value: family.exactJudgment(taskOf(prompt), solution.value) });
      return completion === `${'<ok>'.repeat(solution.value.steps.length)}<right><eos>`;
    });
    expect(Math.abs(share(right) - upright)).toBeLessThan(near(right.length));
  });

  test('proposers write tasks that are admitted', () => {
    for (const { prompt, completion } of of('proposer')) {
      expect(prompt).toBe(family.proposerPrompt());
      const task = family.parseProposal(completion);
      expect(task.ok && !family.isHeldOut(task.value)).toBe(true);
    }
  });
});

describe('games', () => {
  const all = drawn(demonstrateGame, 'games', 4 * COUNT).map(({ role, prompt, completion }) => ({
    role,
    seen: /^<solve>(.+)<sep>$/s.exec(prompt)![1]!,
    action: /^<answer>(\w+)<eos>$/.exec(completion)![1]!,
  }));
  const bets = (seen: string) => all.filter((it) => it.seen === seen).map(({ action }) => action === 'bet');

  test('poker: half of the turns are an equilibrium’s, the rest a coin’s', () => {
    // A king always calls and a jack never does, so that three of four turns are those.
    expect(Math.abs(share(bets('k b')) - 0.75)).toBeLessThan(near(bets('k b').length));
    expect(Math.abs(share(bets('j b')) - 0.25)).toBeLessThan(near(bets('j b').length));
    expect(bets('k b').length).toBeGreaterThan(100);
  });

  test('tic-tac-toe: every move is legal, and a win at hand is taken more often than by chance', () => {
    const boards = all.filter(({ seen }) => seen.includes('you'));
    for (const { seen, action } of boards) expect(seen.replaceAll('\n', '')[Number(action) - 1]).toBe('.');
    // Two in a row with the third cell free, on the first line: x wins there at once.
    const wins = boards.filter(({ seen }) => /^xx\.\n.*you x$/s.test(seen));
    expect(wins.length).toBeGreaterThan(10);
    expect(share(wins.map(({ action }) => action === '3'))).toBeGreaterThan(0.4);
    expect(all.every(({ role }) => role === 'player')).toBe(true);
  });
});
