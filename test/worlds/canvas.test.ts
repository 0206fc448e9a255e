/** The world of pictures: drawings by hand, its texts, its split, and an oracle that agrees with one of another make. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withImages } from '../../core/images/image-tokenizer.ts';
import { Random } from '../../core/random.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { shipped } from '../../recipes/index.ts';
import { askedCanvases } from '../../worlds/canvas/asking.ts';
import { demonstrateCanvas } from '../../worlds/canvas/demonstrations.ts';
import { canvas, kindOf, promptOf, randomTask, readTask } from '../../worlds/canvas/family.ts';
import { canvasPairs } from '../../worlds/canvas/pairs.ts';
import { KIND_NAMES, readQuestion } from '../../worlds/canvas/questions.ts';
import { drawScene, randomScene, readScene, type Scene, writeScene } from '../../worlds/canvas/scene.ts';
import { canvasTokenizer } from '../../worlds/canvas/tokenizer.ts';
import { inShippedWorld } from '../../worlds/shipped-worlds.ts';

const BY_HAND =
  '4x3 7f3a01c2: big red circle at 1,2; small blue cross at 2,0; big blue square at 3,0; small green circle at 3,1';

test.each([
  ['How many circles are there?', '2'],
  ['How many blue shapes are there?', '2'],
  ['How many big blue crosses are there?', '0'],
  ['Is there a small green circle?', 'yes'],
  ['Is there a red square?', 'no'],
  ['What colour is the cross?', 'blue'],
  ['What colour is the big circle?', 'red'],
  ['What shape is the green one?', 'circle'],
  ['What shape is the small blue one?', 'cross'],
  ['Is the cross left of the red circle?', 'yes'],
  ['Is the green shape left of the blue square?', 'no'],
  ['Is the red shape above the cross?', 'yes'],
  ['Is the square above the big circle?', 'no'],
  ['Are there more circles than squares?', 'yes'],
  ['Are there more red shapes than blue shapes?', 'no'],
])('%s %s', (asked, answer) => {
  const task = `${BY_HAND} | ${asked}`;
  expect(readTask(task)?.answer).toBe(answer);
  const right = canvas.parseSolution(task, `${answer}<eos>`);
  expect(right.ok && canvas.answerIsExact(task, right.value)).toBe(true);
  for (const other of ['3', 'yes', 'no', 'purple', 'triangle']) {
    const wrong = canvas.parseSolution(task, `${other}<eos>`);
    expect(wrong.ok && canvas.answerIsExact(task, wrong.value)).toBe(other === answer);
  }
});

test.each([
  // Two circles; no triangle; in one column; in one row; as many.
  `${BY_HAND} | What colour is the circle?`,
  `${BY_HAND} | What colour is the triangle?`,
  `${BY_HAND} | Is the cross left of the square?`,
  `${BY_HAND} | Is the square above the green shape?`,
  `${BY_HAND} | Are there more crosses than squares?`,
  `${BY_HAND} | Is there a circle`,
  `${BY_HAND} | Is there a circles?`,
  `${BY_HAND} | What colour is the red circle? `,
  '4x7 7f3a01c2: big red circle at 1,2 | Is there a circle?',
  '4x3 7f3a01c2: big red circle at 4,2 | Is there a circle?',
  '4x3 7f3a01c2: big red circle at 1,2; big red circle at 1,1 | Is there a circle?',
  '4x3 xyz: big red circle at 1,2 | Is there a circle?',
  'Is there a circle?',
  '',
])('%s asks nothing', (task) => {
  expect(readTask(task)).toBeNull();
  expect(canvas.isHeldOut(task)).toBe(false);
  expect(canvas.answerIsExact(task, { steps: [], answer: 'red' })).toBe(false);
});

/** What colour stands in a cell and how many pixels it has, read from the pixels alone. */
function lookAt(scene: Scene, row: number, column: number) {
  const { width, pixels } = drawScene(scene);
  const background = [...pixels.subarray(0, 3)];
  const seen = new Map<string, number>();
  for (let y = 8 * row; y < 8 * row + 8; y++)
    for (let x = 8 * column; x < 8 * column + 8; x++) {
      const [red, green, blue] = pixels.subarray(3 * (y * width + x)) as unknown as [number, number, number];
      // Grain is the same in the three colours, so that grey stays grey.
      const name =
        red === green && green === blue
          ? red > 190
            ? 'white'
            : 'grey'
          : red - blue > 60 && green - blue > 60
            ? 'yellow'
            : red - green > 40 && blue - green > 40
              ? 'purple'
              : red > Math.max(green, blue)
                ? 'red'
                : green > blue
                  ? 'green'
                  : 'blue';
      seen.set(name, 1 + (seen.get(name) ?? 0));
    }
  expect(background[0]).toBe(background[1]);
  return seen;
}

test('what is drawn has the colour and the number of pixels of its shape, and nothing is elsewhere', () => {
  const AREA = {
    square: { small: 25, big: 49 },
    // By hand: 3 5 5 5 3 and 3 5 7 7 7 5 3 pixels a row.
    circle: { small: 21, big: 37 },
    triangle: { small: 13, big: 25 },
    cross: { small: 9, big: 33 },
  };
  const random = new Random('canvas/drawn');
  for (let i = 0; i < 60; i++) {
    const scene = randomScene(random);
    for (let row = 0; row < scene.rows; row++)
      for (let column = 0; column < scene.columns; column++) {
        const thing = scene.things.find((each) => each.row === row && each.column === column);
        const seen = lookAt(scene, row, column);
        const { grey = 0, ...others } = Object.fromEntries(seen);
        if (!thing) expect(grey).toBe(64);
        else expect(others).toEqual({ [thing.colour]: AREA[thing.shape][thing.size] });
      }
  }
});

test('the same canvas is always the same picture, and another grain another one', () => {
  const scene = readScene(BY_HAND)!;
  expect(writeScene(scene)).toBe(BY_HAND);
  expect(drawScene(scene)).toEqual(drawScene(scene));
  expect(drawScene({ ...scene, noise: '7f3a01c3' })).not.toEqual(drawScene(scene));
  expect(drawScene(scene)).toMatchObject({ width: 24, height: 32 });
});

/** Another oracle: it takes the question apart by its words, and looks every answer up in a table of the canvas. */
function answerByWords(task: string): string {
  const [drawn, asked] = task.split(' | ') as [string, string];
  const things = drawn
    .split(': ')[1]!
    .split('; ')
    .map((each) => each.split(' '));
  const words = asked.replace('?', '').split(' ');
  const singular = (word: string) =>
    word === 'crosses' ? 'cross' : word.replace(/(square|circle|triangle|shape)s$/, '$1');
  const matching = (phrase: readonly string[]) =>
    things.filter((thing) =>
      phrase.map(singular).every((word) => ['shape', 'one'].includes(word) || thing.includes(word)),
    );
  const place = (phrase: readonly string[], axis: 0 | 1) => Number(matching(phrase)[0]![4]!.split(',')[axis]);
  const split = (word: string) =>
    [words.slice(2, words.indexOf(word)), words.slice(words.indexOf(word))] as const;
  const is = (yes: boolean) => (yes ? 'yes' : 'no');
  if (asked.startsWith('How many')) return String(matching(words.slice(2, -2)).length);
  if (asked.startsWith('Is there')) return is(matching(words.slice(3)).length > 0);
  if (asked.startsWith('What colour')) return matching(words.slice(4))[0]![1]!;
  if (asked.startsWith('What shape')) return matching(words.slice(4))[0]![2]!;
  if (asked.startsWith('Are there')) {
    const at = words.indexOf('than');
    return is(matching(words.slice(3, at)).length > matching(words.slice(at + 1)).length);
  }
  const isLeft = words.includes('left');
  const [a, b] = split(isLeft ? 'left' : 'above');
  return is(place(a, isLeft ? 1 : 0) < place(b.slice(isLeft ? 3 : 2), isLeft ? 1 : 0));
}

describe.each(KIND_NAMES)('questions of kind %s', (kind) => {
  const random = new Random(`canvas/${kind}`);
  const tasks = Array.from({ length: 150 }, () => randomTask(random, kind));

  test('have the answers of another oracle', () => {
    for (const task of tasks) expect(readTask(task)?.answer, task).toBe(answerByWords(task));
  });

  test('are of that kind, not held out, and have several answers', () => {
    for (const task of tasks) {
      expect(kindOf(task)).toBe(kind);
      expect(canvas.isHeldOut(task)).toBe(false);
    }
    const answers = tasks.map((task) => readTask(task)!.answer);
    const most = Math.max(...answers.map((answer) => answers.filter((other) => other === answer).length));
    expect(most / tasks.length).toBeLessThan(0.65);
  });

  test('are held out by what is on the canvas, whatever its grain', () => {
    const held = randomTask(random, kind, true);
    expect(canvas.isHeldOut(held)).toBe(true);
    expect(canvas.isHeldOut(held.replace(/ [0-9a-f]{8}:/, ' 00000000:'))).toBe(true);
  });
});

test('held-out tasks are distinct, of every kind in turn, and recognised', () => {
  const tasks = canvas.heldOut();
  expect(tasks).toHaveLength(252);
  expect(new Set(tasks).size).toBe(tasks.length);
  expect(tasks.every((task) => canvas.isHeldOut(task))).toBe(true);
  expect(tasks.slice(0, 7).map(kindOf)).toEqual(KIND_NAMES);
  expect(canvas.heldOut({ heldOut: true, most: 9 })).toEqual(tasks.slice(0, 9));
  expect(canvas.heldOut({ heldOut: false, most: 9 }).some((task) => canvas.isHeldOut(task))).toBe(false);
});

test('no text makes a parser throw', () => {
  const { clue, vote } = canvasPairs.words;
  const speaker = { renderer: () => expect.unreachable('a canvas is not asked in messages') };
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      canvas.parseSolution(BY_HAND, text);
      readScene(text);
      readQuestion(text);
      expect(canvas.difficulty(text)).toBe(0);
      expect(canvas.solverPrompt(text)).toBe('');
      askedCanvases.words.propose.read(text, { like: text }, speaker);
      clue.read(text, { task: text, clues: [text], spy: false }, speaker);
      vote.read(text, { task: text, clues: [text] }, speaker);
      expect(canvasPairs.family.solverPrompt(text)).toBe('');
      expect(canvasPairs.family.isHeldOut(text)).toBe(false);
      expect(canvasPairs.otherPicture!(text, text)).toBe(text);
    }),
    { numRuns: 100 },
  );
});

test('a demonstration shows no held-out canvas, and is written in the tokens of the world', () => {
  const random = new Random('canvas/shown');
  const tokenizer = withImages(openTokenizer(canvasTokenizer().json), true);
  const pad = tokenizer.id('<pad>');
  for (let i = 0; i < 100; i++) {
    const { prompt, completion } = demonstrateCanvas(random);
    const ids = tokenizer.encode(prompt + completion);
    expect(ids).not.toContain(pad);
    expect(tokenizer.decode(ids)).toBe(prompt + completion);
  }
  const task = canvas.heldOut()[0]!;
  expect(promptOf(task)).toMatch(/^<image:[0-9a-f]{64}:\dx\d>How many/);
  // Another canvas with the same question.
  const other = promptOf(task, canvas.heldOut()[1]!);
  expect(other).not.toBe(promptOf(task));
  expect(other.split('>')[1]).toBe(promptOf(task).split('>')[1]);
});

test('recipes that ask for answers alone play in it, others are told what it lacks', () => {
  expect(inShippedWorld(shipped.find('dapo'), 'canvas')).toMatchObject({
    name: 'dapo-in-canvas',
    startPolicy: 'canvas',
    showsImages: { rows: 6, columns: 6 },
    stop: '<eos>',
  });
  expect(() => inShippedWorld(shipped.find('trio'), 'canvas')).toThrow(/needs the verbs propose, verify/);
  expect(() => inShippedWorld(shipped.find('sage'), 'canvas')).toThrow(/follow, hint/);
  expect(() => inShippedWorld(shipped.find('dapo'), 'pictures')).toThrow(
    expect.objectContaining({ code: 'world.unknown' }),
  );
});
