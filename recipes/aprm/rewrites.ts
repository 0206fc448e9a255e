/**
 * The rollout and judge stages: a generator rewrites a line of a right solution, and a verifier marks the result and, beside it, the right solution.
 */
import { deriveId, Random } from '../../core/random.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { RewardInfo } from '../../core/role.ts';
import type { RoundContext } from '../../core/round-context.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { invalid, type Judgment, ok, type ParseResult, type Solution } from '../../core/task-family.ts';
import { type Answer, ask, type Question } from '../../protocols/ask.ts';
import { prefixOf } from '../../protocols/continue-prefixes.ts';
import { besideOracle, coinOf, sealedGold } from '../../protocols/gold.ts';
import { rolloutIds } from '../../protocols/roll-out.ts';
import { samplePrompts } from '../../protocols/sample-prompts.ts';
import { rewardNamed } from '../../protocols/solver.ts';
import { JUDGE } from '../../protocols/solver-verifier.ts';
import { plainProofs } from '../../tasks/chains/analysis.ts';
import { isInteger } from '../../tasks/worked.ts';
import { chainWith, rewrittenLine, slipAt } from './slips.ts';

/** The role that rewrites lines. */
export const GENERATOR = 'generator';

/** What ends a rewritten line. */
const ENDS = ['<step>', '<answer>'] as const;

export const rewards: Readonly<Record<string, RewardInfo>> = {
  game: {
    description:
      'the verifier is paid for exact marks; the generator for wrong lines that pass, and it pays for lines that are not wrong',
    usesGold: true,
  },
  format: { description: 'control: what is in form is paid, for both', usesGold: false },
  random: { description: 'control: a fair coin, for both', usesGold: false },
};

/** A right solution up to the line that is to be rewritten, where the generator continues. */
export function rewritePrompt(task: string): string {
  const kept = prefixOf(chainWith(task), rewrittenLine(task) - 1);
  return `${plainProofs.solverPrompt(task)}${kept}<step>`;
}

/** The solution with the generator's line in its place; the lines after it follow from it. */
export function parseRewrite(task: string, text: string): ParseResult<Solution> {
  const end = ENDS.find((tag) => text.endsWith(tag));
  const said = end === undefined ? '' : text.slice(0, -end.length);
  return isInteger(said) ? ok(chainWith(task, rewrittenLine(task), said)) : invalid('off-grammar');
}

/** Reads the solution that a verifier was shown from its prompt. */
export function solutionShown(prompt: string): Solution {
  const steps = prompt.slice('<judge>'.length, prompt.indexOf('<sep>')).split('=').slice(0, -1);
  return { steps, answer: steps.at(-1) ?? '' };
}

/** Samples `round.settings.groupSize` lines for each task. */
export async function rewriteLines(
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { round, tokenizer } = context;
  const samples = await samplePrompts(
    context,
    GENERATOR,
    tasks.map(({ group, task }) => ({
      prompt: rewritePrompt(task),
      sampleIds: rolloutIds(group, GENERATOR, round.settings.groupSize),
      parse: (text) => parseRewrite(task, text),
    })),
    { stop: ENDS.map((tag) => tokenizer.id(tag)) },
  );
  return tasks.map((task, t) => ({ round: round.id, ...task, samples: samples[t]! }));
}

/** What the verifier is shown for a sample: the solution with the sample's line or, in the static variant, with a random last digit. */
const shownFor = (
  { tokenizer, round }: Pick<RoundContext, 'tokenizer' | 'round'>,
  task: string,
  { id, ids, outcome }: Sample,
): ParseResult<Solution> => {
  if (round.settings.variant === 'static') {
    const line = rewrittenLine(task);
    return ok(chainWith(task, line, slipAt(new Random(`slip/${id}`), 'digit', task, line)!));
  }
  return outcome === 'ok' ? parseRewrite(task, tokenizer.decode(ids)) : invalid(outcome);
};

const isExact = (task: string, solution: Solution): boolean =>
  plainProofs.exactJudgment(task, solution).right;

/** Whether a verdict marks each line as the checker does. */
function marksExactly(task: string, solution: Solution, verdict: ParseResult<Judgment>): boolean {
  const { steps } = plainProofs.exactJudgment(task, solution);
  return verdict.ok && steps.every((right, i) => verdict.value.steps[i] === right);
}

/** The share of the verdicts that let the rewritten line pass; null if none of them parses. */
export function passedShare(task: string, verdicts: readonly ParseResult<Judgment>[]): number | null {
  const line = rewrittenLine(task);
  const read = verdicts.flatMap((verdict) => (verdict.ok ? [Number(verdict.value.steps[line - 1])] : []));
  return read.length ? mean(read) : null;
}

/** The reward of a line: the share of verdicts that it fools, and -1 where it is right or does not parse. */
export const lineReward = (wrong: boolean | null, fooled: number | null): number | null =>
  wrong ? fooled : -1;

interface Shown {
  readonly task: string;
  readonly solution: Solution;
}

export async function judgeLines(
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const { rewardFunction, groupSize: votes } = context.round.settings;
  rewardNamed(rewards, rewardFunction);
  const shownGS = groups.map(({ task, samples }) => samples.map((sample) => shownFor(context, task, sample)));
  const asked = groups.flatMap(({ group, task, samples }, g): (Question<Judgment> & Shown)[] => {
    const about = (of: string, key: string, solution: Solution) => ({
      of,
      key,
      task,
      solution,
      prompt: plainProofs.judgePrompt(task, solution),
      parse: (text: string) => plainProofs.parseJudgment(solution, text),
    });
    const right = about(samples[0]!.id, deriveId(group, 'right'), chainWith(task));
    const rewritten = samples.flatMap(({ id }, s) => {
      const shown = shownGS[g]![s]!;
      return shown.ok ? [about(id, id, shown.value)] : [];
    });
    return [right, ...rewritten];
  });
  const answers = await ask(context, JUDGE, asked, votes);
  const byKey = new Map(asked.map(({ key }, q) => [key!, { ...asked[q]!, answers: answers[q]! }]));

  function payVerdict({ task, solution }: Shown, { sample: { id }, parsed }: Answer<Judgment>): number {
    if (rewardFunction === 'format') return Number(parsed.ok);
    if (rewardFunction === 'random') return Number(coinOf(id));
    return Number(sealedGold(context, marksExactly(task, solution, parsed))());
  }

  function payLine(task: string, { id }: Sample, shown: ParseResult<Solution>): number | null {
    if (rewardFunction === 'format') return Number(shown.ok);
    if (rewardFunction === 'random') return Number(coinOf(id));
    const wrong = sealedGold(context, shown.ok ? !isExact(task, shown.value) : null)();
    const verdicts = byKey.get(id)?.answers ?? [];
    return lineReward(
      wrong,
      passedShare(
        task,
        verdicts.map(({ parsed }) => parsed),
      ),
    );
  }

  return groups.map((group, g): ScoredGroup => {
    const { task, samples } = group;
    const exact = shownGS[g]!.map((shown) => (shown.ok ? isExact(task, shown.value) : null));
    const keys = [deriveId(group.group, 'right'), ...samples.map(({ id }) => id)];
    return {
      ...group,
      samples: samples.map((sample, s) => ({
        ...sample,
        rewards: { reward: payLine(task, sample, shownGS[g]![s]!) },
      })),
      judgments: keys.flatMap((key) => {
        const question = byKey.get(key);
        if (!question) return [];
        return question.answers.map((answer) => ({
          ...answer.sample,
          rewards: { reward: payVerdict(question, answer) },
          ...besideOracle(
            isExact(question.task, question.solution),
            answer.parsed.ok ? answer.parsed.value.right : null,
          ),
        }));
      }),
      answersExact: exact,
      solutionsExact: exact,
    };
  });
}
