/** Drawings under marks. What marks cover is found here by comparing pixels. */
import { expect, test } from 'vitest';
import type { Image } from '../../core/images/image.ts';
import { Random } from '../../core/random.ts';
import {
  beneath,
  erasePrompt,
  isReal,
  otherDrawn,
  randomStyle,
  readStyle,
  realStyle,
  restored,
  stampedOver,
  stamps,
  writeStyle,
} from '../../worlds/canvas/stamping.ts';

const plain: Image = { width: 32, height: 32, pixels: new Uint8Array(3 * 32 * 32) };
const paintedIn = ({ pixels }: Image, paint: readonly number[]) =>
  Array.from({ length: 32 * 32 }, (_, i) => i).filter((i) =>
    paint.every((value, colour) => pixels[3 * i + colour] === value),
  );

test('marks have their form, their colour and their number, and follow from a key', () => {
  const style = { colour: 'red', form: 'bars', amount: 'few' } as const;
  const over = stampedOver(plain, style, 'key');
  const red = paintedIn(over, [215, 50, 45]);
  // Six bars of six pixels, which may cover each other or leave the picture; nothing else is painted.
  expect(red.length).toBeGreaterThan(12);
  expect(red.length).toBeLessThanOrEqual(36);
  expect(red.length + paintedIn(over, [0, 0, 0]).length).toBe(32 * 32);
  expect(stampedOver(plain, style, 'key')).toEqual(over);
  expect(stampedOver(plain, style, 'other')).not.toEqual(over);
  const area = (form: 'dots' | 'bars' | 'posts', amount: 'few' | 'some' | 'many') =>
    paintedIn(stampedOver(plain, { colour: 'red', form, amount }, 'key'), [215, 50, 45]).length;
  expect(area('dots', 'few')).toBeLessThanOrEqual(24);
  expect(area('posts', 'few')).toBeLessThan(area('posts', 'some'));
  expect(area('posts', 'some')).toBeLessThan(area('posts', 'many'));
});

test('styles are read as they are written, and nothing else is one', () => {
  const style = { colour: 'purple', form: 'posts', amount: 'many' } as const;
  expect(writeStyle(style)).toBe(' purple posts many');
  expect(readStyle(' purple posts many<eos>')).toEqual({ ok: true, value: style });
  for (const text of [
    ' purple posts many',
    ' purple posts<eos>',
    ' posts purple many<eos>',
    ' purple posts many few<eos>',
    '<eos>',
  ])
    expect(readStyle(text).ok).toBe(false);
});

test('the world has a part of all styles', () => {
  const random = new Random('styles');
  const real = Array.from({ length: 300 }, () => realStyle(random));
  expect(real.every(isReal)).toBe(true);
  // Two colours, two forms and two amounts, of 6 · 3 · 3.
  expect(new Set(real.map(writeStyle)).size).toBe(8);
  const all = Array.from({ length: 2000 }, () => randomStyle(random));
  expect(new Set(all.map(writeStyle)).size).toBe(54);
  expect(new Set(all.filter(isReal).map(writeStyle)).size).toBe(8);
});

test('what is restored, by hand', () => {
  const task = 'big red circle at 0,2; small blue cross at 3,1';
  expect([restored(task, ` ${task}`), restored(task, ' big red circle at 0,2')]).toEqual([1, 0.5]);
  expect(
    restored(task, ' big red circle at 0,1; small blue cross at 3,1; big red square at 3,3'),
  ).toBeCloseTo(1 / 3, 12);
  expect(beneath(task)).toBe(` ${task}`);
  const exact = (answer: string) => stamps.answerIsExact(task, { steps: [], answer });
  expect([exact(` ${task}`), exact(' big red circle at 0,2')]).toEqual([true, false]);
});

test('an eraser is asked under marks that follow from the sample, and measured under those of the world', () => {
  const task = 'big red circle at 0,2; small blue cross at 3,1';
  const style = { colour: 'white', form: 'dots', amount: 'some' } as const;
  expect(erasePrompt(task, style, 'a')).toMatch(/^<image:[0-9a-f]{64}:4x4>What is beneath\? $/);
  expect(erasePrompt(task, style, 'a')).not.toBe(erasePrompt(task, style, 'b'));
  expect(stamps.solverPrompt(task)).toBe(stamps.solverPrompt(task));
  expect(stamps.solverPrompt('nothing')).toBe('');
  expect(stamps.isHeldOut(stamps.heldOut()[0]!)).toBe(true);
  expect([otherDrawn('a'), stamps.isHeldOut(otherDrawn('a'))]).toEqual([otherDrawn('a'), false]);
});
