import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import {
  admitQuestion,
  answerOf,
  drawQuestion,
  heldOutQuestions,
  isHeldOutQuestion,
  type Knowledge,
  knowledgeOf,
  parseTurn,
  pathQuestions,
  questionDifficulty,
  supports,
  writeFindings,
} from '../../worlds/knowledge/episode.ts';
import { Graph, parseQuestion, writeQuestion } from '../../worlds/knowledge/question.ts';
import { SearchIndex } from '../../worlds/knowledge/search.ts';
import { drawWorld, parseDocument, type Triple, writeDocument } from '../../worlds/knowledge/world.ts';
import { anyText } from './any-text.ts';

const SMALL = { person: 30, town: 6, guild: 5, land: 3 };

/** A world small enough to see through: ana and bo live in miran, cy in tolan; ana teaches bo and cy. */
const DOCUMENTS = [
  'the home of ana is miran.',
  'the home of bo is miran.',
  'the home of cy is tolan.',
  'the mentor of bo is ana.',
  'the mentor of cy is ana.',
  'the mentor of ana is cy.',
  'the mayor of miran is cy.',
  'the land of miran is ost.',
];
const triples = DOCUMENTS.map((document) => parseDocument(document)!);
const tiny: Knowledge = {
  world: {
    names: { person: ['ana', 'bo', 'cy'], town: ['miran', 'tolan'], guild: [], land: ['ost'] },
    triples,
    documents: DOCUMENTS,
  },
  graph: new Graph(triples),
  index: new SearchIndex(DOCUMENTS),
};

test.each<[string, string | null]>([
  ['the home of bo?', 'miran'],
  ['the mayor of the home of bo?', 'cy'],
  ['the home of the mentor of the mentor of bo?', 'tolan'],
  // bo alone lives in miran and has ana as mentor.
  ['the home of the one with home miran and mentor ana?', 'miran'],
  ['the mentor of the one with mentor cy?', 'cy'],
  // bo and cy both have ana as mentor.
  ['the home of the one with mentor ana?', null],
  // Both live in miran: one answer, but no one thing that is meant.
  ['the land of the home of the one with home miran?', null],
  ['the land of tolan?', null],
  ['the home of nobody?', null],
  ['the home of miran?', null],
  ['the land of the mentor of bo?', null],
  ['the colour of bo?', null],
  ['the home of bo', null],
  ['home of bo?', null],
])('%s %s', (question, answer) => expect(answerOf(tiny, question)).toBe(answer));

test('gates of a proposed question', () => {
  expect(admitQuestion(tiny, 'the home of bo?').ok).toBe(true);
  expect(admitQuestion(tiny, 'the home of the one with home miran and mentor ana?')).toEqual({
    ok: false,
    reason: 'gives-away',
  });
  expect(admitQuestion(tiny, 'the home of the one with mentor ana?')).toEqual({
    ok: false,
    reason: 'not-unique',
  });
  expect(admitQuestion(tiny, 'the land of the mentor of bo?')).toEqual({ ok: false, reason: 'type-clash' });
});

test('documents support an answer exactly when they hold every hop', () => {
  const question = 'the mayor of the home of bo?';
  expect(supports(['the home of bo is miran.', 'the mayor of miran is cy.'], question, 'cy')).toBe(true);
  expect(supports(['the home of bo is miran.', 'the mayor of miran is cy.', 'noise'], question, 'cy')).toBe(
    true,
  );
  expect(supports(['the mayor of miran is cy.'], question, 'cy')).toBe(false);
  expect(supports(['the home of bo is miran.', 'the mayor of miran is cy.'], question, 'bo')).toBe(false);
  // Noise documents can show that a description was not enough.
  const described = 'the home of the one with mentor ana?';
  const read = ['the mentor of bo is ana.', 'the home of bo is miran.'];
  expect(supports(read, described, 'miran')).toBe(true);
  expect(
    supports([...read, 'the mentor of cy is ana.', 'the home of cy is tolan.'], described, 'miran'),
  ).toBe(false);
});

/** Answers by joining all triples with nested loops, right to left. */
function answersByJoin(all: readonly Triple[], text: string): Set<string> {
  const described = text.match(/the one with (.*)\?$/);
  const words = text
    .slice(0, -1)
    .replace(/the one with .*/, '')
    .split(' ');
  const path = words.filter((_, i) => words[i - 1] === 'the');
  let ends = new Set<string>([words.at(-1)!]);
  if (described) {
    const conditions = described[1]!.split(' and ').map((part) => part.split(' '));
    ends = new Set(
      all
        .map(({ subject }) => subject)
        .filter((subject) =>
          conditions.every(([relation, object]) =>
            all.some((t) => t.subject === subject && t.relation === relation && t.object === object),
          ),
        ),
    );
  }
  for (const relation of path.reverse())
    ends = new Set(all.filter((t) => t.relation === relation && ends.has(t.subject)).map((t) => t.object));
  return ends;
}

test('drawn questions have the one answer that a join finds, and keep to their side', () => {
  const knowledge = knowledgeOf('join', SMALL);
  const random = new Random('knowledge/join');
  const difficulties = new Set<number>();
  for (let i = 0; i < 120; i++) {
    const heldOut = i % 3 === 0;
    const question = drawQuestion(random, knowledge, { hops: [1, 4], described: 0.5, heldOut });
    expect([...answersByJoin(knowledge.world.triples, question)]).toEqual([answerOf(knowledge, question)]);
    expect(isHeldOutQuestion(question)).toBe(heldOut);
    expect(admitQuestion(knowledge, question).ok).toBe(true);
    expect(supports(knowledge.world.documents, question, answerOf(knowledge, question)!)).toBe(true);
    const parsed = parseQuestion(question);
    expect(parsed.ok && writeQuestion(parsed.value)).toBe(question);
    difficulties.add(questionDifficulty(question));
  }
  expect([...difficulties].sort()).toEqual([1, 2, 3, 4, 5, 6]);
});

test('all questions of so many hops from a name are on one side or the other, but for those that name their answer', () => {
  const knowledge = knowledgeOf('all', SMALL);
  // A person has a home, a mentor and a guild; a guild a seat and a head; a town a land and a mayor; a land a capital and a ruler.
  // Two hops: 2 + 3 + 2 of a person and 2 + 3 of any other thing. Three: 5 + 7 + 5 and 5 + 7.
  for (const [hops, ofPerson, ofOther] of [
    [1, 3, 2],
    [2, 7, 5],
    [3, 17, 12],
  ] as const) {
    const sides = [true, false].map((heldOut) => pathQuestions(knowledge, hops, heldOut));
    for (const [i, side] of sides.entries())
      for (const question of side) {
        expect(isHeldOutQuestion(question)).toBe(i === 0);
        expect(questionDifficulty(question)).toBe(hops);
      }
    const all = new Set(sides.flat());
    expect(all.size).toBe(sides[0]!.length + sides[1]!.length);
    const paths = 30 * ofPerson + (6 + 5 + 3) * ofOther;
    // A way of two or three hops may come back to where it began, which nobody asks: at most once in each thing's few ways.
    expect(all.size).toBeLessThanOrEqual(paths);
    expect(all.size).toBeGreaterThan(hops === 1 ? paths - 1 : 0.9 * paths);
  }
});

test('worlds: seeded, one object per subject and relation, every document reads back', () => {
  const world = drawWorld('w', SMALL);
  expect(drawWorld('w', SMALL)).toEqual(world);
  expect(drawWorld('v', SMALL).documents).not.toEqual(world.documents);
  const keys = world.triples.map(({ subject, relation }) => `${relation} ${subject}`);
  expect(new Set(keys).size).toBe(keys.length);
  // 3 relations of people, 2 of each other kind.
  expect(world.triples).toHaveLength(3 * 30 + 2 * (6 + 5 + 3));
  for (const [i, document] of world.documents.entries()) {
    expect(parseDocument(document)).toEqual(world.triples[i]);
    expect(writeDocument(world.triples[i]!)).toBe(document);
    expect(world.triples[i]!.subject).not.toBe(world.triples[i]!.object);
  }
  expect(() => drawWorld('w', { ...SMALL, land: 1 })).toThrow(/cannot be drawn/);
});

test('search: most shared words, then rarer and earlier words, then document order', () => {
  // `home` and `bo` shared; then each with one word: `bo` is in two documents, `home` in three.
  expect(tiny.index.search('what is the home of bo?')).toEqual([
    'the home of bo is miran.',
    'the mentor of bo is ana.',
    'the home of ana is miran.',
  ]);
  // ana is the subject of two documents, and the object of two that come between them.
  expect(tiny.index.search('ana', 4)).toEqual([
    'the home of ana is miran.',
    'the mentor of ana is cy.',
    'the mentor of bo is ana.',
    'the mentor of cy is ana.',
  ]);
  expect(tiny.index.search('the of is')).toEqual([]);
  expect(tiny.index.search('HOME, cy', 1)).toEqual(['the home of cy is tolan.']);
  expect(tiny.index.search('ost constructor __proto__', 9)).toEqual(['the land of miran is ost.']);
});

test('search finds the document of each triple first by its relation and subject', () => {
  const { world, index } = knowledgeOf('find', SMALL);
  for (const [i, { relation, subject }] of world.triples.entries())
    expect(index.search(`${relation} ${subject}`)[0]).toBe(world.documents[i]);
});

test('turns are read strictly', () => {
  expect(parseTurn('<step>?home of bo<eos>')).toEqual({
    ok: true,
    value: { kind: 'search', text: 'home of bo' },
  });
  expect(parseTurn('<answer>miran<eos>')).toEqual({ ok: true, value: { kind: 'answer', text: 'miran' } });
  expect(parseTurn('<step>first the home<step>?bo<eos>')).toMatchObject({ ok: true, value: { text: 'bo' } });
  for (const bad of [
    '<step>?<eos>',
    '<step>? <eos>',
    '<step>home<eos>',
    '<answer>miran',
    '<answer>a b<eos>',
    '?bo<eos>',
  ])
    expect(parseTurn(bad).ok, bad).toBe(false);
  expect(writeFindings([])).toBe('nothing<sep>');
});

test('no text makes a parser or the search throw', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      parseTurn(text);
      parseDocument(text);
      answerOf(tiny, text);
      questionDifficulty(text);
      isHeldOutQuestion(text);
      supports([text], text, text);
      expect(tiny.index.search(text).length).toBeLessThanOrEqual(3);
    }),
  );
});

test('held-out questions are distinct and the same each time', () => {
  const knowledge = knowledgeOf('held', SMALL);
  const questions = heldOutQuestions(knowledge, 'one', 40);
  expect(new Set(questions).size).toBe(40);
  expect(questions.every(isHeldOutQuestion)).toBe(true);
  expect(heldOutQuestions(knowledge, 'one', 40)).toEqual(questions);
});

test('the order of conditions, or saying one twice, does not change the side of the split', () => {
  const sides = new Set<boolean>();
  for (let i = 0; i < 60; i++) {
    const name = `x${'abcdefgh'[i % 8]}${'abcdefgh'[i >> 3]}`;
    const ask = (conditions: string) => isHeldOutQuestion(`the home of the one with ${conditions}?`);
    const side = ask(`guild ${name} and mentor bo`);
    expect(ask(`mentor bo and guild ${name}`)).toBe(side);
    expect(ask(`guild ${name} and guild ${name}`)).toBe(ask(`guild ${name}`));
    sides.add(side);
  }
  expect(sides.size).toBe(2);
});
