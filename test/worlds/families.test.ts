/** What every one-answer family promises, checked alike: total parsers, a split that holds, solvable tasks, seeded draws. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { HELD_OUT, HELD_OUT_SHARE, isHeldOutKey } from '../../core/recipe/split.ts';
import type { Solution, TaskFamily } from '../../core/recipe/task-family.ts';
import { characterTokenizer } from '../../core/text/characters.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { chains } from '../../worlds/chains/family.ts';
import { equations } from '../../worlds/equations/family.ts';
import { kuhn } from '../../worlds/games/kuhn.ts';
import { ticTacToe } from '../../worlds/games/tic-tac-toe.ts';
import { lake } from '../../worlds/grids/lake.ts';
import { boxPush } from '../../worlds/grids/push.ts';
import { drawQuestion, knowledgeOf } from '../../worlds/knowledge/episode.ts';
import { programs } from '../../worlds/programs/family.ts';
import { abduction, deduction, induction } from '../../worlds/programs/questions.ts';
import { rewriting } from '../../worlds/rewriting/family.ts';
import { randomStyleTask, stylePrompt } from '../../worlds/style/family.ts';
import { temporalGraphs } from '../../worlds/temporal-graphs/family.ts';
import { writeSolution } from '../../worlds/worked.ts';
import { anyText } from './any-text.ts';

const draw = (family: TaskFamily, seed: string, count = 60) => {
  const random = new Random(seed);
  return Array.from({ length: count }, () => family.random(random));
};

const FAMILIES = [chains, equations, deduction, abduction, induction, rewriting, temporalGraphs];
describe.each(FAMILIES)('$name', (family) => {
  const task = family.random(new Random('families/one'));

  test('no text makes a parser throw', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const solution = family.parseSolution(task, text);
        if (solution.ok) {
          expect(`${writeSolution(solution.value)}<eos>`).toBe(text);
          family.answerIsExact(task, solution.value);
          expect(family.exactJudgment(task, solution.value).steps).toHaveLength(solution.value.steps.length);
        }
        family.parseProposal(text);
        family.isHeldOut(text);
        family.difficulty(text);
        family.solverPrompt(text);
        const judged: Solution = { steps: [text], answer: text };
        expect(typeof family.exactJudgment(text, judged).right).toBe('boolean');
        family.parseJudgment(judged, text);
      }),
      { numRuns: 300 },
    );
  });

  test('what is drawn is never held out, can be proposed again, and depends on the seed alone', () => {
    const drawn = draw(family, 'families/a');
    expect(draw(family, 'families/a')).toEqual(drawn);
    expect(draw(family, 'families/b')).not.toEqual(drawn);
    for (const each of drawn) {
      expect(family.isHeldOut(each)).toBe(false);
      expect(family.parseProposal(`${each}<eos>`)).toEqual({ ok: true, value: each });
      expect(family.parseProposal(each).ok).toBe(false);
      expect(each.length + 1).toBeLessThanOrEqual(family.maxNew.proposer);
    }
  });

  test('held-out tasks are distinct, recognised, and tasks of the family', () => {
    const tasks = family.heldOut();
    expect(tasks.length).toBeGreaterThanOrEqual(200);
    expect(new Set(tasks).size).toBe(tasks.length);
    for (const each of tasks) {
      expect(family.isHeldOut(each)).toBe(true);
      expect(family.parseProposal(`${each}<eos>`).ok).toBe(true);
      expect(family.difficulty(each)).toBeGreaterThan(0);
    }
    expect(family.heldOut()).toEqual(tasks);
  });
});

test('all that is shown can be written with the character tokenizer', () => {
  const { json } = characterTokenizer();
  const { model } = json as { model: { vocab: Record<string, number> } };
  const random = new Random('families/characters');
  const knowledge = knowledgeOf('characters', { person: 5, town: 3, guild: 2, land: 2 });
  const texts = [
    ...[equations, deduction, abduction, induction, rewriting].flatMap((family) => [
      family.solverPrompt(family.random(random)),
      family.proposerPrompt(),
      family.random(random),
    ]),
    ...knowledge.world.documents,
    drawQuestion(random, knowledge),
    stylePrompt(randomStyleTask(random)),
    ...[lake(), boxPush(), kuhn, ticTacToe].map((world) => world.reset('characters').observation),
  ];
  for (const text of texts)
    for (const piece of text.match(/<[a-z]+>|./gs)!) expect(model.vocab, text).toHaveProperty([piece]);
});

test('about the stated share of keys is held out', () => {
  const held = Array.from({ length: 4000 }, (_, i) => isHeldOutKey('share', String(i))).filter(
    Boolean,
  ).length;
  // Four standard errors of a binomial share.
  expect(Math.abs(held / 4000 - HELD_OUT_SHARE)).toBeLessThan(4 * Math.sqrt((0.1 * 0.9) / 4000));
});

test('an evaluation asks the side and the number of tasks that it is told', () => {
  for (const family of [arithmetic, chains, programs]) {
    const all = family.heldOut();
    expect(family.heldOut({ heldOut: true, most: 5 })).toHaveLength(family === programs ? 15 : 5);
    expect(family.heldOut({ ...HELD_OUT, most: 5 }).every((task) => all.includes(task))).toBe(true);
    const pilot = family.heldOut({ ...HELD_OUT, heldOut: false });
    expect(pilot).toHaveLength(all.length);
    for (const task of pilot) expect(family.isHeldOut(task)).toBe(false);
    // Asking once for less, or for the other side, changes nothing for who asks next.
    expect(family.heldOut()).toEqual(all);
  }
});
