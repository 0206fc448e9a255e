/**
 * Rewards by a policy that judges with a rubric. Each answer of a group is shown to it in the rubric's messages, and what it writes is parsed as a
 * grade. Its judgments are sampled, recorded and audited like every sample. An answer that cannot be shown and a judgment without a grade are missing
 * data and never 0.
 */
import { wrongInput } from '../../core/errors.ts';
import type { Score } from '../../core/net/reward-service.ts';
import type { RewardRollout } from '../../core/recipe/reward-function.ts';
import { type RoundContext, sampleOf } from '../../core/recipe/round-context.ts';
import {
  fillRubric,
  parseGrade,
  type Rubric,
  shownQuestion,
  usesReference,
} from '../../core/recipe/rubric.ts';
import type { PolicyText } from '../../core/renderer/policy-text.ts';
import type { Renderer } from '../../core/renderer/renderer.ts';
import { judgmentId } from '../../core/round/sample-ids.ts';
import type { RolloutGroup, Sample } from '../../core/schema/sample.ts';
import { readTask } from '../../worlds/questions/task-text.ts';
import { sealedGold } from '../gold.ts';

/** What is asked about answers. */
export interface RubricAsked {
  /** The name of the reward. */
  readonly name: string;
  readonly rubric: Rubric;
}

/** Who judges, and by which rubric. */
export interface RubricJudge extends RubricAsked {
  /** The exact version that judges. */
  readonly policy: { readonly name: string; readonly version: number };
}

/** The role that a judge plays in a round. */
export const judgeRole = (reward: string): string => `judge-${reward}`;

/** What the judges of a reward say about one group. */
export interface Judged {
  readonly judgments: readonly Sample[];
  /** By the name of the reward: [samples]. */
  readonly scores: Readonly<Record<string, readonly Score[]>>;
}

/** Throws `rubric.context` where the rubric alone leaves no room for an answer in what the judge can read. */
export async function expectRoom(
  context: Pick<RoundContext, 'textOf'>,
  { name, rubric, policy }: RubricJudge,
): Promise<void> {
  const { renderer, contextLength } = await context.textOf(judgeRole(name));
  const empty = fillRubric(rubric, { question: '', response: '', reference: '' });
  const tokens = renderer().begin(empty).ids.length;
  if (tokens + rubric.maxNew < contextLength) return;
  throw wrongInput(
    'rubric.context',
    `The rubric ${name} is ${tokens} tokens for ${policy.name}@${policy.version}, and its judgment may take ${rubric.maxNew}.`,
    {
      expected: `fewer than ${contextLength} together, the judge’s context, so that there is room for an answer`,
      next: 'Shorten the rubric, lower its maxNew, or name a judge with a longer context.',
    },
  );
}

/** The prompt that shows an answer to the judge, or why it cannot be shown. */
function promptOf(
  { rubric }: RubricAsked,
  renderer: Renderer,
  contextLength: number,
  shown: { readonly question: string; readonly response: string; readonly reference: string },
): readonly number[] | 'control-token' | 'no-room' {
  // A text in the task or the answer that separates messages would look like the border of a message.
  if (Object.values(shown).some((text) => renderer.holdsControl(text))) return 'control-token';
  const { ids } = renderer.begin(fillRubric(rubric, shown));
  return ids.length + rubric.maxNew > contextLength ? 'no-room' : ids;
}

interface Asked {
  readonly group: number;
  readonly sample: number;
  readonly id: string;
  readonly prompt: readonly number[];
}

/** One judge's scores [groups][samples] and judgments [groups], asked about all groups at once. */
async function judgeAll(
  context: RoundContext,
  judge: RubricAsked,
  groups: readonly RolloutGroup[],
  rollouts: readonly (readonly Pick<RewardRollout, 'text'>[])[],
): Promise<{ scores: Score[][]; judgments: Sample[][] }> {
  const role = judgeRole(judge.name);
  const { renderer: open, contextLength }: PolicyText = await context.textOf(role);
  const renderer = open();
  const asked: Asked[] = [];
  const scores = groups.map((group, g) => {
    const { messages, answer } = readTask(group.task);
    const reference = usesReference(judge.rubric) ? sealedGold(context, answer)() : '';
    return group.samples.map(({ id: of }, s): Score => {
      const shown = { question: shownQuestion(messages), response: rollouts[g]![s]!.text, reference };
      const prompt = promptOf(judge, renderer, contextLength, shown);
      if (typeof prompt === 'string') return prompt;
      asked.push({ group: g, sample: s, id: judgmentId(of, role, 0), prompt });
      return 'unreadable';
    });
  });
  const judgments: Sample[][] = groups.map(() => []);
  const completions = await context.generate(
    role,
    asked.map(({ id, prompt }) => ({ ids: prompt, sampleIds: [id] })),
  );
  for (const [i, { group: g, sample: s, id, prompt }] of asked.entries()) {
    const completion = completions[i]![0]!;
    const { text, ended } = renderer.read(prompt, completion.ids);
    const grade = parseGrade(judge.rubric, text);
    const outcome = !ended ? 'cut-off' : grade === null ? 'off-grammar' : 'ok';
    scores[g]![s] = outcome === 'ok' ? grade! : outcome === 'cut-off' ? 'cut-off' : 'unreadable';
    const of = groups[g]!.samples[s]!.id;
    judgments[g]!.push({ ...sampleOf(context, role, id, prompt, completion, outcome), of });
  }
  return { scores, judgments };
}

/** The judgments of all judges [groups], one judge after the other, since an isolate has room for one policy. `rollouts`: [groups][samples]. */
export async function judgeByRubrics(
  context: RoundContext,
  judges: readonly RubricAsked[],
  groups: readonly RolloutGroup[],
  rollouts: readonly (readonly Pick<RewardRollout, 'text'>[])[],
): Promise<Judged[]> {
  let judged: Judged[] = groups.map(() => ({ judgments: [], scores: {} }));
  for (const judge of judges) {
    const { scores, judgments } = await judgeAll(context, judge, groups, rollouts);
    judged = judged.map((one, g) => ({
      judgments: [...one.judgments, ...judgments[g]!],
      scores: { ...one.scores, [judge.name]: scores[g]! },
    }));
  }
  return judged;
}
