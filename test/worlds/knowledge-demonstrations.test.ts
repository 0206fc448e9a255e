import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import type { Demonstration } from '../../worlds/arithmetic/demonstrations.ts';
import { demonstrateKnowledge } from '../../worlds/knowledge/demonstrations.ts';
import { isHeldOutQuestion, parseTurn } from '../../worlds/knowledge/episode.ts';
import {
  ANSWER_KINDS,
  admitProposal,
  parseProposerTurn,
  readTask,
  writeTask,
} from '../../worlds/knowledge/proposal.ts';
import { demonstrateStumbling } from '../../worlds/knowledge/stumbling.ts';
import { demonstrateTwoHop } from '../../worlds/knowledge/two-hop.ts';
import { parseDocument, type Triple } from '../../worlds/knowledge/world.ts';

const random = new Random('knowledge-demonstrations');
const demonstrations = Array.from({ length: 4000 }, () => demonstrateKnowledge(random));
const of = (role: string) => demonstrations.filter((it) => it.role === role);
const tokens = (text: string) => text.replace(/<[a-z]+>/g, '#').length;
const found = (prompt: string): Triple[] =>
  [...prompt.matchAll(/the [a-z]+ of [a-z]+ is [a-z]+\./g)].map(([text]) => parseDocument(text)!);

test('every turn keeps to its role’s grammar and fits the context with all before it', () => {
  for (const { role, prompt, completion } of demonstrations) {
    const parsed = role === 'solver' ? parseTurn(completion) : parseProposerTurn(completion);
    expect(parsed.ok, completion).toBe(true);
    expect(tokens(prompt) + tokens(completion)).toBeLessThanOrEqual(256);
  }
});

test('no question is held out', () => {
  for (const { prompt } of of('solver'))
    expect(isHeldOutQuestion(/^<solve>(.*?)<sep>/.exec(prompt)![1]!)).toBe(false);
  for (const { completion } of of('proposer')) {
    const turn = parseProposerTurn(completion);
    if (turn.ok && turn.value.kind === 'question') expect(isHeldOutQuestion(turn.value.text)).toBe(false);
  }
});

/** What proposers ask: of how many of the documents they found, and whether by the relations that these state. */
function proposalsOf(shown: readonly Demonstration[]) {
  return shown.flatMap(({ role, prompt, completion }) => {
    if (role !== 'proposer' || !completion.startsWith('<answer>')) return [];
    const [, kind, answer, searches] = /^<propose>([a-z]+) ([a-z]+) (\d)<sep>/.exec(prompt)!;
    expect(ANSWER_KINDS).toContain(kind);
    expect(prompt.split('<step>?')).toHaveLength(1 + Number(searches));
    // What does not lead on was a search in vain.
    const trail: Triple[] = [];
    let at = answer;
    for (const triple of found(prompt)) if (triple.object === at) at = trail[trail.push(triple) - 1]!.subject;
    const [, path, base] = /^<answer>((?:the [a-z]+ of )+)([a-z]+)\?<eos>$/.exec(completion)!;
    const relations = [...path!.matchAll(/the ([a-z]+) of /g)].map(([, relation]) => relation);
    expect(base).toBe(trail[relations.length - 1]!.subject);
    const right = relations.map((relation, i) => relation === trail[i]!.relation);
    expect(right.slice(1)).not.toContain(false);
    return [{ found: trail.length, used: relations.length, right: right[0]! }];
  });
}

/** Solvers' answers: hops of the question, and how many of them were made. */
function answersOf(shown: readonly Demonstration[]) {
  return shown.flatMap(({ role, prompt, completion }) => {
    if (role !== 'solver' || !completion.startsWith('<answer>')) return [];
    const way = found(prompt);
    expect(completion).toBe(`<answer>${way.at(-1)!.object}<eos>`);
    return [{ hops: prompt.split(' of ').length - 1 - way.length, made: way.length }];
  });
}

const share = (values: readonly boolean[]) => values.filter(Boolean).length / values.length;
/** Within four standard errors of an expected share. */
const expectShare = (values: readonly boolean[], expected: number) =>
  expect(Math.abs(share(values) - expected)).toBeLessThan(
    4 * Math.sqrt((expected * (1 - expected)) / values.length),
  );

test('the skilled ask of most that they found, by what it says, and go all the way', () => {
  const asked = proposalsOf(demonstrations);
  expect(share(asked.map(({ right }) => right))).toBe(1);
  // Weights 1, 2, 3 as far as documents were found.
  const of = (count: number) => asked.filter((it) => it.found === count);
  expectShare(
    of(2).map(({ used }) => used === 2),
    2 / 3,
  );
  expectShare(
    of(3).map(({ used }) => used === 3),
    1 / 2,
  );
  for (const { hops, made } of answersOf(demonstrations)) expect(made).toBe(hops);
});

test('the two-hop roles ask of three documents at times, now and then for something else, and stop after two hops', () => {
  const seeded = new Random('incurious');
  const shown = Array.from({ length: 4000 }, () => demonstrateTwoHop(seeded));
  const asked = proposalsOf(shown);
  const three = asked.filter((it) => it.found === 3);
  for (const [i, expected] of [0.4, 0.3, 0.3].entries())
    expectShare(
      three.map(({ used }) => used === i + 1),
      expected,
    );
  expectShare(
    asked.map(({ right }) => !right),
    0.1,
  );
  const answers = answersOf(shown);
  for (const { hops, made } of answers) expect(made === hops || (hops === 3 && made === 2)).toBe(true);
  // One of three turns is shown where it stopped, one of four where it did not: .9 / 3 against .1 / 4.
  expectShare(
    answers.filter(({ hops }) => hops === 3).map(({ made }) => made === 2),
    0.3 / 0.325,
  );
});

test('searchers stumble and stop early, but for those that read notes of the documents on the way', () => {
  const seeded = new Random('stumbling');
  const shown = Array.from({ length: 6000 }, () => demonstrateStumbling(seeded)).flatMap(
    ({ role, prompt, completion }) => {
      if (role !== 'solver') return [];
      const [, notes, question, made] = /^(.*?)<solve>(.*?)<sep>(.*)$/.exec(prompt)!;
      const queries = [...made!.matchAll(/\?([a-z]+ [a-z]+)</g)].map(([, query]) => query);
      const turn = parseTurn(completion);
      if (!turn.ok) throw new Error(completion);
      const known = found(notes!);
      return [
        {
          known,
          noted: notes!.slice(0, -'<sep>'.length),
          hops: question!.split(' of ').length - 1,
          queries,
          turn: turn.value,
        },
      ];
    },
  );
  const alone = shown.filter(({ noted }) => noted === '');
  const repeated = (of: typeof shown) =>
    of.flatMap(({ queries, turn }) =>
      turn.kind === 'search' && queries.length === 1 ? [turn.text === queries[0]] : [],
    );
  // After one search a second one is shown as often where it repeats it and where it does not.
  const [often, never] = [repeated(alone), repeated(shown.filter(({ known }) => known.length > 0))];
  expect(share(often)).toBeGreaterThan(0.25);
  expect(share(often)).toBeLessThan(0.45);
  expect(share(never)).toBe(0);
  const hopsMade = ({ queries }: (typeof shown)[0]) => new Set(queries).size;
  for (const one of shown.filter(({ turn }) => turn.kind === 'answer')) {
    const [made, { known, hops, noted, turn }] = [hopsMade(one), one];
    if (known.length) {
      expect([made, known.length]).toEqual([hops, hops]);
      expect(turn.text).toBe(known.at(-1)!.object);
    } else if (noted) expect(turn.text).toBe(noted);
    expect(made === hops || (hops === 3 && made === 2)).toBe(true);
  }
  const three = alone.filter(({ turn, hops }) => turn.kind === 'answer' && hops === 3);
  expect(share(three.map((one) => hopsMade(one) === 2))).toBeGreaterThan(0.5);
  expect(three.some((one) => hopsMade(one) === 3)).toBe(true);
});

test('rules of a proposal', () => {
  const good = { answer: 'miran', question: 'the home of bo?', queries: ['home miran'] };
  expect(admitProposal(good)).toEqual({ ok: true, value: good.question });
  const reason = (change: Partial<typeof good>) => admitProposal({ ...good, ...change });
  expect(reason({ queries: [] })).toEqual({ ok: false, reason: 'no-search' });
  expect(reason({ queries: ['a', 'b', 'a'] })).toEqual({ ok: false, reason: 'repeated-query' });
  expect(reason({ question: 'the land of miran?' })).toEqual({ ok: false, reason: 'gives-away' });
  expect(parseProposerTurn('<answer>the land of the mentor of bo?<eos>').ok).toBe(false);
  expect(parseProposerTurn('<answer>miran<eos>').ok).toBe(false);
  expect(readTask(writeTask(good.question, good.answer))).toEqual({
    question: good.question,
    answer: good.answer,
  });
  expect(() => readTask('miran')).toThrow(/is no question/);
});
