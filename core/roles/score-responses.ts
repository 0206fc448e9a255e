/** The judge of string transformations: a digit from 0 to 5 for a response, asked for several times. */
import type { Completion, TokenIds } from '../policy.ts';
import { deriveId } from '../random.ts';
import { mean } from '../rl/statistics.ts';
import type { Sample } from '../schema/sample.ts';
import type { Reading } from '../tasks/family.ts';
import { refuse } from '../tasks/family.ts';
import { readScore, styleJudgePrompt } from '../tasks/style.ts';
import type { Judged } from './respond.ts';
import { type Stage, sampleOf } from './stage.ts';

/** The role that gives digits. */
export const STYLE_JUDGE = 'judge';
/** A digit, the stop, and one more so that a text that goes on is seen to. */
export const DIGIT_TOKENS = 3;

export interface Scoring {
  /** Mean of the readable digits; null where none is. */
  readonly score: number | null;
  readonly judgments: Sample[];
}

/** Scores in the order of the items, from `votes` digits each. */
export async function scoreResponses(
  stage: Stage,
  items: readonly Judged[],
  votes: number,
): Promise<Scoring[]> {
  const { tokenizer } = stage;
  const prompts = items.map(({ task, response, id }) => ({
    ids: tokenizer.encode(styleJudgePrompt(task, response)),
    sampleIds: Array.from({ length: votes }, (_, i) => deriveId(id, STYLE_JUDGE, i)),
  }));
  const completions = await stage.generate(STYLE_JUDGE, prompts);
  return prompts.map(({ ids, sampleIds }, item) => {
    const read = completions[item]!.map((completion) => ({
      completion,
      reading: digitOf(stage, completion),
    }));
    const digits = read.flatMap(({ reading }) => (reading.ok ? [reading.value] : []));
    return {
      score: digits.length ? mean(digits) : null,
      judgments: read.map(({ completion, reading }, i) =>
        judgmentOf(stage, { id: sampleIds[i]!, of: items[item]!.id, ids }, completion, reading),
      ),
    };
  });
}

const digitOf = ({ tokenizer }: Stage, { ids, stopped }: Completion): Reading<number> =>
  stopped ? readScore(tokenizer.decode(ids)) : refuse('cut-off');

const judgmentOf = (
  stage: Stage,
  { id, of, ids }: { readonly id: string; readonly of: string; readonly ids: TokenIds },
  completion: Completion,
  reading: Reading<number>,
): Sample => ({
  ...sampleOf(stage, STYLE_JUDGE, id, ids, completion, reading.ok ? 'ok' : reading.reason, {
    score: reading.ok ? reading.value : null,
  }),
  of,
});
