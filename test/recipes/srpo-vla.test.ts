import { expect, test } from 'vitest';
import { imageText } from '../../core/images/patches.ts';
import { playWritten } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { clustersOf, selfReferentialRewards } from '../../recipes/srpo-vla/self-referential.ts';
import { episodeColours } from '../../worlds/grids/embedding.ts';
import { openGrid } from '../../worlds/grids/play.ts';
import { drawBoard, drawNoise, seenBoard } from '../../worlds/grids/seen.ts';

test('clusters are what is reached over neighbours, and noise is in none', () => {
  const line = [0, 0.4, 0.8, 2, 5, 5.5].map((x) => [x]);
  expect(clustersOf(line, 0.5, 2)).toEqual([
    [0, 1, 2],
    [4, 5],
  ]);
  // A border point is reached from a core point, and nothing is reached from it.
  expect(clustersOf(line, 0.5, 3)).toEqual([[0, 1, 2]]);
  expect(clustersOf([], 0.5, 2)).toEqual([]);
});

test('a failure is paid by its distance to the nearest centre of successes, among the failures of the room', () => {
  // Successes at 0 and .4 have their centre at .2: distances 1 and 3, z = −1 and 1.
  const rewards = selfReferentialRewards([true, false, true, false], [[0], [1.2], [0.4], [3.2]]);
  expect(rewards).toEqual([1, expect.closeTo(0.731059, 6), 1, expect.closeTo(0.268941, 6)]);
});

test('without a success nothing is paid; without neighbours each success is a centre', () => {
  expect(selfReferentialRewards([false, false], [[0], [1]])).toEqual([0, 0]);
  expect(selfReferentialRewards([true, true, false], [[0], [9], [8]])).toEqual([1, 1, 0.5]);
  expect(selfReferentialRewards([true, true, false, false], [[0], [9], [8], [2]])[2]).toBeGreaterThan(0.5);
  expect(selfReferentialRewards([true, true], [[0], [9]])).toEqual([1, 1]);
});

test('a cell of the room is a patch, whose colour says what is in it', () => {
  const image = drawBoard('wb\n.t');
  const at = (x: number, y: number) => [
    ...image.pixels.slice(3 * (y * image.width + x), 3 * (y * image.width + x) + 3),
  ];
  expect([image.width, image.height]).toEqual([16, 16]);
  expect([at(0, 0), at(12, 4), at(8, 0), at(12, 12)]).toEqual([
    [70, 65, 60],
    [170, 110, 50],
    [225, 220, 205],
    [90, 170, 90],
  ]);
  // The wall's 64 pixels are alike; over two frames, of which the second is all floor, means are halfway.
  const colours = episodeColours([image, drawBoard('..\n..')]);
  expect(colours).toHaveLength(24);
  expect(colours[0]).toBeCloseTo((70 + 225) / 2 / 255, 6);
  expect(colours[12]).toBeCloseTo(225 / 255, 6);
});

test('a round: the robot is shown pictures of its room, and rooms without a success pay nothing', async () => {
  const shown = async (variant?: string) => {
    const prompts: string[] = [];
    const { groups } = await playWritten(
      shipped.find('srpo-vla'),
      (prompt) => {
        prompts.push(prompt);
        return 'no move<eos>';
      },
      { tasks: 1, groupSize: 2, ...(variant ? { variant } : {}) },
    );
    return { prompts, group: groups[0]! };
  };
  const { prompts, group } = await shown();
  const boardOf = (task: string) => openGrid(task).start().observation;
  expect(prompts[0]).toBe(`<solve>${seenBoard(boardOf(group.task))}<sep>`);
  expect(group.samples.map(({ rewards }) => rewards.reward)).toEqual(new Array(10).fill(0));
  const blind = await shown('blind');
  expect(blind.prompts[0]).toBe(`<solve>${imageText(drawNoise(boardOf(blind.group.task)))}<sep>`);
});
