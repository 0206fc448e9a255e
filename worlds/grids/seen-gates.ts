/** What a start of rooms that are seen must do: push boxes by what it sees, and fail often enough that rewards have something to teach. */

import { imageText } from '../../core/images/patches.ts';
import { mean } from '../../core/rl/statistics.ts';
import { agentPrompt } from '../environment.ts';
import type { AskedPolicy, Gate } from '../gate.ts';
import { STOP } from '../worked.ts';
import { EXAM_WORLDS, examWorld, gridOutcome, MAX_GRID_TURNS, openGrid, TURN_TOKENS } from './play.ts';
import { drawNoise, seenBoard } from './seen.ts';

/** The share of held-out rooms whose box a policy pushes onto its place, sampled. */
async function success({ tokenizer, generate }: AskedPolicy, see: (board: string) => string) {
  const rooms = Array.from({ length: EXAM_WORLDS }, (_, i) => {
    const game = openGrid(examWorld('push', i), true);
    const now = game.start();
    return { i, game, now, prompt: agentPrompt(see(now.observation)), texts: [] as string[] };
  });
  for (let turn = 0; turn < MAX_GRID_TURNS; turn++) {
    const open = rooms.filter(({ now }) => !now.done);
    const made = await generate(
      open.map(({ i, prompt }) => ({ ids: tokenizer.encode(prompt), sampleIds: [`gate/${i}/${turn}`] })),
      { maxNew: TURN_TOKENS, temperature: 1, stop: [tokenizer.id(STOP)] },
    );
    for (const [r, room] of open.entries()) {
      const text = tokenizer.decode(made[r]![0]!.ids);
      room.texts.push(text);
      room.now = room.game.turn(room.now, text);
      room.prompt += `${text}${see(room.now.observation)}<sep>`;
    }
  }
  return mean(rooms.map(({ game, texts }) => Number(gridOutcome(game, texts).success)));
}

export async function gates(policy: AskedPolicy): Promise<Gate[]> {
  const seeing = await success(policy, seenBoard);
  const blind = await success(policy, (board) => imageText(drawNoise(board)));
  return [
    { description: 'held-out rooms, sampled', value: seeing, least: 0.15, most: 0.6 },
    { description: 'the same where noise is seen', value: blind, most: Math.max(0, seeing - 0.08) },
  ];
}
