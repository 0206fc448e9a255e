/** What policies say about canvases beside answers: questions of their own, clues and votes. Oracles here read the texts of canvases, as a person would. */
import { expect, test } from 'vitest';
import { withImages } from '../../core/images/image-tokenizer.ts';
import { imagesNamed, imageText } from '../../core/images/patches.ts';
import { Random } from '../../core/random.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { ASK, askedCanvases } from '../../worlds/canvas/asking.ts';
import { drawings, painted, programOf, shapesAlone, wantedIn } from '../../worlds/canvas/drawing.ts';
import { canvas } from '../../worlds/canvas/family.ts';
import { canvasPairs, heldOutPairs, holds, randomPair, readPair } from '../../worlds/canvas/pairs.ts';
import { drawScene, readScene, writeScene } from '../../worlds/canvas/scene.ts';
import { demonstrateSpeaking, speakingTokenizer } from '../../worlds/canvas/speaking.ts';

const BY_HAND = '4x3 7f3a01c2: big red circle at 1,2; small blue cross at 3,0';
const OTHER = '4x3 00000001: big red square at 1,2; small blue cross at 3,0';
const TASK = `${BY_HAND} | What colour is the circle?`;
const PAIR = `${BY_HAND} ~ ${OTHER} | What colour is the circle?`;
const shown = (scene: string) => imageText(drawScene(readScene(scene)!));
const speaker = { renderer: () => expect.unreachable('a canvas is not asked in messages') };

test('a proposer is shown a canvas alone, and what it writes is asked about that canvas', () => {
  const { ask, read } = askedCanvases.words.propose;
  expect(ask({ like: TASK }, speaker)).toBe(shown(BY_HAND) + ASK);
  const says = (text: string) => read(text, { like: TASK }, speaker);
  expect(says('How many crosses are there? <eos>')).toEqual({
    ok: true,
    value: `${BY_HAND} | How many crosses are there?`,
  });
  for (const text of ['How many crosses are there? ', 'How many? <eos>', '<eos>', ' red circle<eos>'])
    expect(says(text).ok).toBe(false);
});

test('a question without an answer is asked, and no answer to it is right', () => {
  const task = `${BY_HAND} | What colour is the triangle?`;
  expect(canvas.solverPrompt(task)).toBe(`${shown(BY_HAND)}What colour is the triangle? `);
  expect([canvas.isUnlabelled!(task), canvas.isUnlabelled!(TASK)]).toEqual([true, false]);
  expect(canvas.answerIsExact(task, { steps: [], answer: 'red' })).toBe(false);
  expect(canvas.answerIsExact(TASK, { steps: [], answer: 'red' })).toBe(true);
});

test('another picture keeps the question and the side of the split, and follows from its key', () => {
  for (const task of [canvas.heldOut()[3]!, canvas.heldOut({ heldOut: false, most: 9 })[3]!]) {
    const other = askedCanvases.otherPicture!(task, 'a');
    expect(other.split(' | ')[1]).toBe(task.split(' | ')[1]);
    expect(other.split(' | ')[0]).not.toBe(task.split(' | ')[0]);
    expect(canvas.isHeldOut(other)).toBe(canvas.isHeldOut(task));
    expect(askedCanvases.otherPicture!(task, 'a')).toBe(other);
    expect(askedCanvases.otherPicture!(task, 'b')).not.toBe(other);
  }
});

/** The shapes of a canvas as texts: "big red circle at 1,2". */
const thingsOf = (scene: string): string[] => scene.split(': ')[1]!.split('; ');
const bare = (thing: string): string => thing.split(' at ')[0]!;

test('a pair differs in the colour or the shape of one thing, which neither canvas has twice', () => {
  const random = new Random('pairs');
  for (let i = 0; i < 100; i++) {
    const [all, spy] = randomPair(random).split(' | ')[0]!.split(' ~ ').map(thingsOf) as [string[], string[]];
    const differing = all.filter((thing, at) => thing !== spy[at]);
    expect([all.length, differing.length]).toEqual([spy.length, 1]);
    const at = all.indexOf(differing[0]!);
    const [before, after] = [all[at]!.split(' '), spy[at]!.split(' ')];
    expect(before.filter((word, w) => word !== after[w])).toHaveLength(1);
    expect([before[0], before[4]]).toEqual([after[0], after[4]]);
    expect(spy.map(bare)).not.toContain(bare(all[at]!));
    expect(all.map(bare)).not.toContain(bare(spy[at]!));
  }
});

test('pairs lie on one side of the split, and their question is one about the first canvas', () => {
  const { family } = canvasPairs;
  const held = heldOutPairs();
  expect(new Set(held).size).toBe(252);
  for (const task of held.slice(0, 20)) {
    const [all, spy] = readPair(task)!;
    for (const scene of [all, spy])
      expect(canvas.isHeldOut(`${writeScene(scene)} | How many circles are there?`)).toBe(true);
    expect(family.isHeldOut(task)).toBe(true);
    const alone = `${writeScene(all)} | ${task.split(' | ')[1]}`;
    expect(family.solverPrompt(task)).toBe(canvas.solverPrompt(alone));
    for (const answer of ['red', 'yes', 'no', '1', '2', 'circle'])
      expect(family.answerIsExact(task, { steps: [], answer })).toBe(
        canvas.answerIsExact(alone, { steps: [], answer }),
      );
  }
  expect(family.isHeldOut(randomPair(new Random('asked')))).toBe(false);
});

test('players are shown their own canvas, and what was said', () => {
  const { clue, vote } = canvasPairs.words;
  expect(clue.ask({ task: PAIR, clues: [], spy: false }, speaker)).toBe(`${shown(BY_HAND)}Give a clue. `);
  expect(clue.ask({ task: PAIR, clues: ['red circle', ''], spy: true }, speaker)).toBe(
    `${shown(OTHER)}Clue 1: red circle. Clue 2:. You are the spy. Give a clue. `,
  );
  const clues = ['red circle', 'big red square'];
  expect(vote.ask({ task: PAIR, clues }, speaker)).toBe(
    `${shown(BY_HAND)}Clue 1: red circle. Clue 2: big red square. Who is the spy? `,
  );
  const says = (text: string) => vote.read(text, { task: PAIR, clues }, speaker);
  expect([says('2<eos>'), says('unsure<eos>')]).toEqual([
    { ok: true, value: 2 },
    { ok: true, value: null },
  ]);
  for (const text of ['3<eos>', '0<eos>', '2', 'red<eos>', '<eos>']) expect(says(text).ok).toBe(false);
  const gives = (text: string) => clue.read(text, { task: PAIR, clues, spy: false }, speaker);
  expect(gives(' red circle<eos>')).toEqual({ ok: true, value: 'red circle' });
  for (const text of [' red circle', ' circle red<eos>', 'red<eos>', '<eos>'])
    expect(gives(text).ok).toBe(false);
});

test('a clue is true where a thing has each of its words', () => {
  const random = new Random('clues');
  const words = [
    ['', 'small', 'big'],
    ['', 'red', 'blue', 'green'],
    ['shape', 'circle', 'square', 'cross'],
  ] as const;
  let told = 0;
  for (let i = 0; i < 200; i++) {
    const [scene] = readPair(randomPair(random))!;
    const said = words.map((list) => random.pick(list)).filter((word) => word !== '');
    const isTrue = thingsOf(writeScene(scene)).some((thing) =>
      said.every((word) => word === 'shape' || thing.split(' ').includes(word)),
    );
    expect(holds(scene, said.join(' ')), `${writeScene(scene)}: ${said.join(' ')}`).toBe(isTrue);
    told += Number(isTrue);
  }
  expect(told).toBeGreaterThan(25);
  expect(holds(readScene(BY_HAND)!, 'very red')).toBe(false);
});

test('a program paints its shapes, each in a cell of its own', () => {
  const scene = painted(' small blue cross at 3,1; big red circle at 0,2')!;
  expect(writeScene(scene)).toMatch(/^4x4 [0-9a-f]{8}: big red circle at 0,2; small blue cross at 3,1$/);
  expect(programOf(scene)).toBe(' big red circle at 0,2; small blue cross at 3,1');
  for (const program of [
    '',
    ' big red circle',
    ' red circle at 0,2',
    ' big red circle at 4,0',
    ' big red circle at 0,2; small blue cross at 0,2',
    'big red circle at 0,2',
  ])
    expect(painted(program), program).toBeNull();
});

test('a drawing is as wanted where it has these shapes, in whatever cells and order', () => {
  const task = 'big red circle, small blue cross';
  const is = (program: string) => drawings.answerIsExact(task, { steps: [], answer: program });
  expect(is(' small blue cross at 0,0; big red circle at 0,1')).toBe(true);
  for (const program of [
    ' big blue circle at 0,0; small red cross at 0,1',
    ' big red circle at 0,0',
    ' big red circle at 0,0; small blue cross at 0,1; small blue cross at 0,2',
    'anything',
  ])
    expect(is(program), program).toBe(false);
  expect(drawings.solverPrompt(task)).toBe('Draw: big red circle, small blue cross. ');
  expect(drawings.solverPrompt('red circle')).toBe('');
  expect(shapesAlone(task)).toBe('circle, cross');
  const held = drawings.heldOut();
  expect(new Set(held).size).toBe(150);
  for (const each of held)
    expect([drawings.isHeldOut(each), wantedIn(each)?.length]).toEqual([true, each.split(', ').length]);
});

test('demonstrations are written in the tokens of the world', () => {
  const random = new Random('canvas/shown');
  const tokenizer = withImages(openTokenizer(speakingTokenizer().json), true);
  const pad = tokenizer.id('<pad>');
  const roles = new Set<string>();
  for (let i = 0; i < 150; i++) {
    const { role, prompt, completion } = demonstrateSpeaking(random);
    roles.add(role);
    const ids = tokenizer.encode(prompt + completion);
    expect(ids).not.toContain(pad);
    expect(tokenizer.decode(ids)).toBe(prompt + completion);
    if (role !== 'drawer') expect(imagesNamed(prompt)).toHaveLength(1);
  }
  expect([...roles].sort()).toEqual(['drawer', 'proposer', 'solver', 'speaker', 'voter']);
});
