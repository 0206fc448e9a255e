/** Maps that are looked at part by part. Oracles here read the texts of maps, as a person would. */
import { expect, test } from 'vitest';
import type { Image } from '../../core/images/image.ts';
import { imageText } from '../../core/images/patches.ts';
import { Random } from '../../core/random.ts';
import {
  answerFrom,
  boxOverlap,
  glanceAt,
  heldOutMaps,
  lookAt,
  MAP_KINDS,
  mapPrompt,
  maps,
  otherMap,
  PARTS,
  randomMapTask,
  readFirst,
  readMap,
  readNext,
  readSight,
  reasonPrompt,
  rightnessOf,
  sightOf,
  thingsIn,
} from '../../worlds/canvas/maps.ts';
import { drawScene, readScene, writeScene } from '../../worlds/canvas/scene.ts';
import {
  readVerdict,
  verdictText,
  verifyAnswerPrompt,
  verifySightPrompt,
} from '../../worlds/canvas/verdicts.ts';
import { halved, quarter } from '../../worlds/canvas/views.ts';

const MAP =
  '6x6 7f3a01c2: big red circle at 0,1; small red cross at 2,3; small blue cross at 2,4; big red cross at 5,5';
const scene = readScene(MAP)!;
const task = (question: string) => `${MAP} | ${question}`;
const WHERE = task('Where is every red cross?');
const WHICH = task('Which are there:1 red shape;2 cross;3 white shape?');
const COUNT = task('How many crosses are there?');

/** A picture of 4 × 2 pixels, whose colours are counted up row by row. */
const picture: Image = { width: 4, height: 2, pixels: Uint8Array.from({ length: 24 }, (_, i) => i) };

test('views by hand: the mean of four pixels, rounded down, and a quarter as it is', () => {
  // Red of the first four pixels that share one: 0, 3, 12 and 15.
  expect(halved(picture)).toEqual({
    width: 2,
    height: 1,
    pixels: Uint8Array.from([7, 8, 9, 13, 14, 15]),
  });
  const parts = PARTS.map((part) => [...quarter(picture, part).pixels]);
  expect(parts).toEqual([
    [0, 1, 2, 3, 4, 5],
    [6, 7, 8, 9, 10, 11],
    [12, 13, 14, 15, 16, 17],
    [18, 19, 20, 21, 22, 23],
  ]);
});

test('a prompt shows the whole at half its size and a look a part, each of 3 × 3 patches', () => {
  expect(glanceAt(scene)).toBe(imageText(halved(drawScene(scene))));
  expect(lookAt(scene, 4)).toBe(imageText(quarter(drawScene(scene), 4)));
  for (const view of [glanceAt(scene), lookAt(scene, 1)]) expect(view).toMatch(/^<image:[0-9a-f]{64}:3x3>$/);
  expect(mapPrompt(WHERE)).toBe(`${glanceAt(scene)}Where is every red cross? `);
  expect(reasonPrompt(WHERE, [{ part: 3, seen: 'nothing' }])).toBe(
    'Where is every red cross? Look 3:nothing. ',
  );
});

test('what each part holds of what is asked for, as the answer would be without the others', () => {
  const held = (task: string) => {
    const { scene: map, ...asked } = readMap(task)!;
    return PARTS.map((part) => sightOf(asked, thingsIn(map, part)));
  };
  expect(held(WHERE)).toEqual(['nothing', '2,3;2,3', 'nothing', '5,5;5,5']);
  expect(held(WHICH)).toEqual(['1', '1,2', '0', '1,2']);
  expect(held(COUNT)).toEqual(['0', '2', '0', '1']);
});

test('answers by hand, and from a part of the shapes', () => {
  const answers = [WHERE, WHICH, COUNT].map((each) => answerFrom(readMap(each)!, scene.things));
  expect(answers).toEqual(['2,3;5,5', '1,2', '3']);
  const seen = thingsIn(scene, 2);
  expect([WHERE, WHICH, COUNT].map((each) => answerFrom(readMap(each)!, seen))).toEqual([
    '2,3;2,3',
    '1,2',
    '2',
  ]);
  expect(answerFrom(readMap(WHERE)!, [])).toBeNull();
  expect(answerFrom(readMap(WHICH)!, [])).toBe('0');
});

test('overlaps by hand', () => {
  const box = (top: number, left: number, bottom: number, right: number) => ({ top, left, bottom, right });
  expect(boxOverlap(box(0, 0, 1, 1), box(1, 1, 2, 2))).toBeCloseTo(1 / 7, 12);
  expect(boxOverlap(box(0, 0, 1, 1), box(0, 0, 0, 1))).toBe(1 / 2);
  expect(boxOverlap(box(0, 0, 1, 1), box(0, 2, 1, 3))).toBe(0);
  // Twelve cells are right; 4 × 4 around them share all twelve.
  expect(rightnessOf(WHERE, '2,2;5,5')).toBe(12 / 16);
});

test('rightness: overlap, the share of choices that are right, an exact number; nothing for another form', () => {
  expect(['2,3;5,5', '5,5;2,3', '2,3', '3'].map((answer) => rightnessOf(WHERE, answer))).toEqual([
    1, 0, 0, 0,
  ]);
  const choices = ['1,2', '1', '0', '1,2,3', '3', '2,1', '1,4'].map((answer) => rightnessOf(WHICH, answer));
  expect(choices).toEqual([1, 2 / 3, 1 / 3, 2 / 3, 0, 0, 0]);
  expect(['3', '2', '3,3'].map((answer) => rightnessOf(COUNT, answer))).toEqual([1, 0, 0]);
  expect(maps.answerIsExact(WHICH, { steps: [], answer: '1' })).toBe(false);
  expect(rightnessOf('6x6', '1')).toBe(0);
});

test('turns keep to their grammar', () => {
  expect(readFirst('Look 3<eos>')).toEqual({ ok: true, value: { look: 3 } });
  expect(readFirst('Answer:1,2;3,4<eos>')).toEqual({ ok: true, value: { answer: '1,2;3,4' } });
  for (const text of ['Look 5<eos>', 'Look 3', 'nothing. Look 3<eos>', 'Answer:<eos>', '<eos>'])
    expect(readFirst(text).ok, text).toBe(false);
  expect(readNext('2,3;2,3. Look 1<eos>')).toEqual({
    ok: true,
    value: { seen: '2,3;2,3', act: { look: 1 } },
  });
  for (const text of ['Look 1<eos>', 'nothing. <eos>', ' red. Look 1<eos>', '1. nothing. Look 1<eos>'])
    expect(readNext(text).ok, text).toBe(false);
  expect(readSight('nothing<eos>')).toEqual({ ok: true, value: 'nothing' });
  expect(readSight(' red circle<eos>').ok).toBe(false);
  expect(maps.parseSolution(COUNT, 'nothing. Answer:3<eos>')).toEqual({
    ok: true,
    value: { steps: [], answer: '3' },
  });
  expect(maps.parseSolution(COUNT, 'Look 3<eos>').ok).toBe(false);
});

test('verdicts keep to theirs', () => {
  for (const right of [true, false])
    for (const sure of [true, false])
      for (const found of ['nothing', '2', '2,3;2,3']) {
        const said = { found, right, sure };
        expect(readVerdict(`${verdictText(said)}<eos>`)).toEqual({ ok: true, value: said });
      }
  expect(verdictText({ found: 'nothing', right: false, sure: true })).toBe('nothing. no sure');
  for (const text of [
    'yes sure<eos>',
    '2. yes<eos>',
    '2. yes sure',
    '2. maybe sure<eos>',
    ' red. yes sure<eos>',
  ])
    expect(readVerdict(text).ok).toBe(false);
  expect(verifySightPrompt(COUNT, '', { part: 2, seen: '0' })).toBe(
    'How many crosses are there? Look 2:0. Right? ',
  );
  expect(verifyAnswerPrompt(COUNT, [{ part: 2, seen: '0' }], '0')).toBe(
    'How many crosses are there? Look 2:0. Answer:0. Right? ',
  );
});

/** The shapes of a map as texts without places: "big red circle". */
const thingsOf = (map: string): string[] =>
  map
    .split(': ')[1]!
    .split('; ')
    .map((each) => each.split(' at ')[0]!);
/** Does "small red cross" fit "red shape"? */
const fitting = (said: string, thing: string): boolean =>
  said.split(' ').every((word) => word === 'shape' || thing.split(' ').includes(word));

test('drawn tasks are about maps of 6 × 6 cells on one side of the split, and none answers itself', () => {
  const random = new Random('maps');
  for (const kind of MAP_KINDS)
    for (let i = 0; i < 40; i++) {
      const drawn = randomMapTask(random, kind);
      const [map, question] = drawn.split(' | ') as [string, string];
      expect(map).toMatch(/^6x6 /);
      expect(maps.isHeldOut(drawn)).toBe(false);
      expect(readMap(drawn)).toMatchObject({ kind });
      if (kind === 'count') continue;
      const said = question.replace(/^(Where is every |Which are there:1 )/, '').replace('?', '');
      const there = said
        .split(/;\d /)
        .map((each) => thingsOf(map).filter((thing) => fitting(each, thing)).length > 0);
      if (kind === 'where') expect(there).toEqual([true]);
      else expect([1, 2]).toContain(there.filter(Boolean).length);
    }
});

test('held-out tasks are on the other side, and another map stays on the side of the task', () => {
  for (const kind of MAP_KINDS) {
    const held = heldOutMaps(kind)({ heldOut: true, most: 5 });
    expect(held.map((each) => maps.isHeldOut(each))).toEqual(new Array(5).fill(true));
    const other = otherMap(new Random('a'), held[0]!);
    expect(maps.isHeldOut(`${writeScene(other)} | Where is every circle?`)).toBe(true);
    expect(writeScene(other)).not.toBe(held[0]!.split(' | ')[0]);
  }
});
