/** A round's groups and their samples: right, wrong, terse, failed and hostile ones. */

import { imageText } from '../../../core/images/patches.ts';
import { deriveId, Random } from '../../../core/random.ts';
import { readTags } from '../../../core/recipe/reading.ts';
import {
  arithmetic,
  runningTotals,
  writeJudgment,
  writeSolution,
} from '../../../worlds/arithmetic/family.ts';
import { HOSTILE } from './drawn.ts';
import { ref, trained } from './run.ts';

/** What the third task shows. */
export const PICTURE = { width: 2, height: 1, pixels: Uint8Array.of(255, 0, 0, 0, 0, 255) };

/** Of any round: 64 tasks; the first one's task and texts are hostile, the second failed. */
export function groupsOf(round: string) {
  return Array.from({ length: 64 }, (_, index) => {
    const random = new Random(`fake/${round}/${index}`);
    const failed = index === 1;
    return {
      group: deriveId(round, 'group', index),
      index,
      task: index === 0 ? HOSTILE : arithmetic.random(random),
      state: failed ? 'failed' : 'trained',
      sha256: null,
      failure: failed
        ? { kind: 'give-up', code: 'object.damaged', message: `The object cannot be read: ${HOSTILE}` }
        : null,
    };
  });
}

export function groupOf(round: string, id: string) {
  const group = groupsOf(round).find((candidate) => candidate.group === id);
  if (!group) return null;
  if (group.state === 'failed')
    return {
      ...group,
      title: readTags(group.task),
      proposal: [],
      samples: null,
      judgments: null,
      answersExact: null,
      solutionsExact: null,
      endings: {},
    };
  const samples = Array.from({ length: trained.groupSize }, (_, i) => sampleOf(group.task, id, i));
  if (group.index === 2)
    for (const { sample } of samples) sample.text.seen = readTags(`${imageText(PICTURE)}Which colour is it?`);
  return {
    ...group,
    title: readTags(group.task),
    endings: {},
    proposal: [],
    samples: samples.map(({ sample }) => sample),
    judgments: samples.flatMap(({ judgments }) => judgments),
    answersExact: samples.map(({ answerExact }) => answerExact),
    solutionsExact: samples.map(({ solutionExact }) => solutionExact),
  };
}

/** Solution i of a task: 0 worked and right, 1 with a wrong step, 2 terse and wrong, 3 hostile, then more of the kind. */
export function sampleOf(task: string, group: string, i: number) {
  const id = deriveId(group, 'solver', i);
  const record = (role: string, of: string, text: string, outcome: string, rewards: object) => ({
    id: of,
    role,
    policy: ref(1),
    prompt: [3],
    ids: [1, 2],
    logprobs: [-0.1, -0.2],
    stopped: true,
    outcome,
    rewards,
    text: {
      prompt: task,
      completion: text,
      parts: readTags(text),
      seen: readTags(task),
      tokens: [text, ''],
    },
  });
  if (task === HOSTILE || i % 4 === 3)
    return {
      sample: record('solver', id, HOSTILE, 'off-grammar', { reward: 0, passed: 0 }),
      judgments: [],
      answerExact: null,
      solutionExact: null,
    };
  const totals = runningTotals(task);
  const kind = i % 4;
  const steps = kind === 2 ? [] : totals.map((total, at) => String(kind === 1 && at > 0 ? total + 2 : total));
  const answer = kind === 2 ? String(totals.at(-1)! + 1) : (steps.at(-1) ?? '0');
  const solution = { steps, answer };
  const exact = arithmetic.exactJudgment(task, solution);
  const verdict = writeJudgment(i === 5 ? { steps: steps.map(() => true), right: true } : exact);
  const judged = Array.from({ length: 2 }, (_, vote) => {
    const off = vote === 1 && i === 4;
    const text = off ? HOSTILE : `${verdict}<eos>`;
    const agreement = off ? 0 : Number(verdict.endsWith('<right>') === exact.right);
    return {
      ...record('judge', deriveId(id, 'judge', vote), text, off ? 'off-grammar' : 'ok', { agreement }),
      of: id,
    };
  });
  const answerExact = arithmetic.answerIsExact(task, solution);
  return {
    sample: record('solver', id, `${writeSolution(solution)}<eos>`, 'ok', {
      reward: answerExact ? 1 : 0.1,
      passed: Number(answerExact),
    }),
    judgments: judged,
    answerExact,
    solutionExact: exact.right,
  };
}
