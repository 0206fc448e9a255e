/** RewardHarness: a judge that does not learn applies a library of rules, which evolves on a hundred preferences. */

import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { deriveId, Random } from '../../core/random.ts';
import type { WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { admit } from '../../core/round/admit.ts';
import { inPhases } from '../../core/round/in-phases.ts';
import { phaseAt } from '../../core/round/phases.ts';
import { proposalId, rolloutId } from '../../core/round/sample-ids.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import type { AdmittedTask, Proposals, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { ask } from '../../protocols/ask-about-samples.ts';
import { asked } from '../../protocols/evaluate/asked.ts';
import { coinOf, sealedGold } from '../../protocols/gold.ts';
import { ppoClip } from '../../protocols/objectives.ts';
import { proposeThrough } from '../../protocols/proposals.ts';
import { responderAlone } from '../../protocols/responder-alone.ts';
import { samplePrompts } from '../../protocols/sample-prompts.ts';
import { groupItems, policyUpdate, smallSteps } from '../../protocols/solver.ts';
import {
  pointsOfRound,
  RESPONDER,
  RESPONSE_CONTROLS,
  RESPONSE_FIGURES,
  rated,
  responseOf,
} from '../../protocols/style-responder.ts';
import { STYLE_POINTS, styleDifficulty, styleScore } from '../../worlds/style/family.ts';
import {
  type Edit,
  orchestratorPrompt,
  parseEdit,
  parseRuleVerdict,
  ruleHolds,
  ruleJudgePrompt,
} from '../../worlds/style/rules.ts';
import {
  agreements,
  decided,
  drawnEdits,
  evolve,
  examinedPairs,
  favourites,
  libraryState,
  missedOf,
  type Pair,
  pairsOf,
  preferredOf,
  START_RULES,
  stateOf,
  type Verdicts,
} from './library.ts';

const ORCHESTRATOR = 'orchestrator';
const JUDGE = 'judge';
/** The parameter set of the orchestrator and the judge, which stay as they were at the start. */
const HELPERS = 'helpers';
/** How often the orchestrator is asked in a round. */
const ASKED = 32;
/** The longest edit is `+down:source` and its stop token. */
const EDIT_TOKENS = 14;
const EXAMINED_PAIRS = 150;
/** Rounds in which the library evolves and nothing is trained. */
const EVOLVING = 3;
const SCHEDULE = {
  first: [{ phase: 'evolve', rounds: EVOLVING }],
  cycle: [{ phase: 'train', rounds: 1 }],
} as const;

const VARIANTS = {
  'start-library': 'the library is never edited',
  'random-edits': 'edits are drawn at random instead of written, and tried in the same way',
  ungated: 'every edit that is tried is kept',
  'coin-preferences': 'a coin says which of two responses is preferred',
} as const;

/** Only where the library is paid is it edited; elsewhere the same rounds go by. */
const edits = ({ settings }: Pick<RoundSpec, 'settings'>): boolean =>
  settings.rewardFunction === 'library' && settings.variant !== 'start-library';

/** Which of the two responses is preferred [pairs], by the oracle or, in its control, by a coin. */
function preferences({ round }: Pick<RoundContext, 'round'>, pairs: readonly Pair[]): (0 | 1)[] {
  if (round.settings.variant === 'coin-preferences')
    return pairs.map((_, p) => new Random(`preference/${round.settings.seed}/${p}`).int(2) as 0 | 1);
  return sealedGold({ recipe: rewardHarness, round }, pairs.map(preferredOf))();
}

/** The edits that a round tries. */
const editsOf = (
  round: RoundSpec,
  rules: readonly string[],
  written: readonly Sample[],
  { decode }: Pick<LearnTools, 'decode'>,
): Edit[] => {
  if (!edits(round)) return [];
  if (round.settings.variant === 'random-edits') return drawnEdits(round, rules);
  return favourites(
    written.flatMap(({ ids, outcome }) => {
      const parsed = parseEdit(decode(ids));
      return outcome === 'ok' && parsed.ok ? [parsed.value] : [];
    }),
  );
};

/** Stage one of a round that evolves the library: its tasks are the rules of the library and those that edits would add. */
async function proposeEdits(context: RoundContext): Promise<Proposals> {
  const { round, tokenizer } = context;
  const { rules, missed } = stateOf(await context.recipeState());
  const pairs = pairsOf(round);
  const asks = edits(round) && round.settings.variant !== 'random-edits';
  const shown = asks ? new Random(`${round.id}/shown`).shuffle(missed) : [];
  const preferred = shown.length ? preferences(context, pairs) : [];
  const each = Math.ceil(ASKED / Math.max(1, shown.length));
  const written = await proposeThrough(
    context,
    ORCHESTRATOR,
    shown.slice(0, ASKED).map((p, r) => {
      const { task, responses } = pairs[p]!;
      const better = preferred[p]!;
      return {
        prompt: orchestratorPrompt(rules, task, responses[better], responses[better === 0 ? 1 : 0]),
        sampleIds: Array.from({ length: each }, (_, i) => proposalId(round.id, ORCHESTRATOR, r * each + i)),
      };
    }),
    { parse: parseEdit, isHeldOut: () => false },
  );
  const samples = written.map(({ sample }) => sample);
  const added = editsOf(round, rules, samples, tokenizer).flatMap(({ adds, rule }) => (adds ? [rule] : []));
  const tasks = [...new Set([...rules, ...added])];
  return {
    round: round.id,
    samples,
    // A library that has lost all of its rules still makes a round.
    tasks: admit(
      round,
      (tasks.length ? tasks : START_RULES).map((task) => ({ task, proposal: null })),
    ),
  };
}

/** Stage two of such a round: the judge says of every response of the preferences whether a rule holds. */
async function applyRules(context: RoundContext, tasks: readonly AdmittedTask[]): Promise<RolloutGroup[]> {
  const responses = pairsOf(context.round).flatMap((pair) =>
    pair.responses.map((response) => ({ task: pair.task, response })),
  );
  const asked = tasks.flatMap(({ group, task: rule }) =>
    responses.map(({ task, response }, i) => ({
      prompt: ruleJudgePrompt(rule, task, response),
      sampleIds: [rolloutId(group, JUDGE, i)],
      parse: parseRuleVerdict,
    })),
  );
  const verdicts = (await samplePrompts(context, JUDGE, asked)).flat();
  return tasks.map((task, t) => ({
    round: context.round.id,
    ...task,
    samples: verdicts.slice(t * responses.length, (t + 1) * responses.length),
  }));
}

/** Stage three of a round that trains: the judge says of every response which rules of the library hold. */
async function payResponses(context: RoundContext, groups: readonly RolloutGroup[]): Promise<ScoredGroup[]> {
  const { rewardFunction } = context.round.settings;
  const { rules } = stateOf(await context.recipeState());
  const responses = groups.flatMap(({ task, samples }) =>
    samples.flatMap((sample) => {
      const response = responseOf(context, sample);
      return response === null ? [] : [{ task, id: sample.id, response }];
    }),
  );
  const asked = rewardFunction === 'library' ? responses : [];
  const verdicts = await ask(
    context,
    JUDGE,
    asked.flatMap(({ task, id, response }) =>
      rules.map((rule) => ({
        of: id,
        key: deriveId(id, 'rule', rule),
        prompt: ruleJudgePrompt(rule, task, response),
        parse: parseRuleVerdict,
      })),
    ),
    1,
  );
  const worth = ({ task, id, response }: (typeof responses)[number], i: number): number => {
    if (rewardFunction === 'format') return 1;
    if (rewardFunction === 'random') return Number(coinOf(id));
    if (rewardFunction === 'rubric') return sealedGold(context, styleScore(task, response) / STYLE_POINTS)();
    const own = verdicts.slice(i * rules.length, (i + 1) * rules.length);
    return own.length ? mean(own.map(([vote]) => Number(vote!.parsed.ok && vote!.parsed.value))) : 0;
  };
  return rated(
    groups,
    new Map(responses.map((response, i) => [response.id, worth(response, i)])),
    verdicts.flat().map(({ sample }) => sample),
  );
}

/** What the judge says of the pairs, by rule. */
const verdictsOf = (groups: readonly ScoredGroup[], { decode }: Pick<LearnTools, 'decode'>) =>
  new Map(
    groups.map(({ task: rule, samples }): [string, Verdicts] => {
      const said = samples.map(({ ids, outcome }) => {
        const parsed = parseRuleVerdict(decode(ids));
        return outcome === 'ok' && parsed.ok ? parsed.value : null;
      });
      return [
        rule,
        Array.from({ length: said.length / 2 }, (_, p) => [said[2 * p]!, said[2 * p + 1]!] as const),
      ];
    }),
  );

/** The training plan of a round that evolves the library: no weights change. */
function evolveLibrary(
  { round, groups, proposals, recipeState }: RoundRecords,
  tools: LearnTools,
): TrainingPlan {
  const { rules } = stateOf(recipeState);
  const verdicts = verdictsOf(groups, tools);
  // How exact the judge is, by the oracle, for the report alone.
  const pairs = pairsOf(round);
  const exact = [...verdicts].flatMap(([rule, each]) =>
    each.flatMap((pair, p) =>
      pair.map((said, i) => Number(said === ruleHolds(rule, pairs[p]!.task, pairs[p]!.responses[i]!))),
    ),
  );
  const figures = { verdictsExact: mean(exact) };
  if (!edits(round)) return { updates: [], figures: { ...figures, rules: rules.length } };
  const preferred = preferences({ round }, pairs);
  const agreement = (library: readonly string[]) => agreements(library, verdicts, preferred);
  const tried = editsOf(round, rules, proposals.samples, tools);
  const evolved = evolve(
    rules,
    tried,
    (library) => decided(agreement(library)),
    round.settings.variant !== 'ungated',
  );
  return {
    updates: [],
    recipeState: { rules: evolved.rules, missed: missedOf(agreement(evolved.rules)) },
    figures: {
      ...figures,
      rules: evolved.rules.length,
      tried: tried.length,
      kept: evolved.kept,
      decided: decided(agreement(evolved.rules)),
    },
  };
}

/** The training plan of a round that trains the responder. */
function trainResponder({ groups }: RoundRecords, tools: LearnTools): TrainingPlan {
  const items = groupItems(groups, grpo);
  const points = pointsOfRound(groups, tools.decode);
  const paid = groups.flatMap(({ samples }) => samples.flatMap(({ rewards }) => rewards.reward ?? []));
  return {
    updates: policyUpdate(RESPONDER, items, ppoClip()),
    figures: { points, ...(paid.length ? { overpaid: mean(paid) - points } : {}) },
  };
}

/** How often the library prefers the response of a held-out pair with more points: as the judge applies it, and applied exactly. */
async function agreementOf(context: EvaluationContext): Promise<Readonly<Record<string, number>>> {
  const { heldOut, most } = context.evaluationTasks;
  const { rules } = stateOf(await context.recipeState());
  const pairs = examinedPairs(heldOut, Math.min(EXAMINED_PAIRS, most));
  const preferred = pairs.map(preferredOf);
  const read = (verdict: boolean[]): Verdicts => pairs.map((_, p) => [verdict[2 * p]!, verdict[2 * p + 1]!]);
  const judged = rules.flatMap((rule) =>
    pairs.flatMap(({ task, responses }) => responses.map((response) => ({ rule, task, response }))),
  );
  const verdicts = await asked(context, JUDGE, judged, {
    prompt: ({ rule, task, response }) => ruleJudgePrompt(rule, task, response),
    key: ({ rule, task, response }) => [rule, task, response],
  });
  const said = verdicts.map(([verdict]) => {
    const parsed = parseRuleVerdict(verdict!.text);
    return parsed.ok && parsed.value;
  });
  const exact = judged.map(({ rule, task, response }) => ruleHolds(rule, task, response));
  const agreement = (verdict: readonly boolean[]) => {
    const each = 2 * pairs.length;
    const byRule = new Map(rules.map((rule, r) => [rule, read(verdict.slice(r * each, (r + 1) * each))]));
    return mean(agreements(rules, byRule, preferred));
  };
  return { agreement: agreement(said), agreementExact: agreement(exact), rules: rules.length };
}

const alone = responderAlone({ examine: (_, context) => agreementOf(context) });

export const rewardHarness: WithoutSetup = {
  name: 'rewardharness',
  title: 'A library of rules for a judge, evolved on a hundred preferences',
  paper: { title: 'RewardHarness', year: 2026 },
  summary:
    'No reward model is trained: a judge that does not learn applies a library of rules to a response. An orchestrator reads preferences that the library gets wrong and writes edits of it, and an edit is kept if the library then agrees with more of the other preferences. After three such rounds a responder is trained by GRPO on the share of the rules that hold.',
  method: {
    setting:
      'Responses to string transformations earn up to five points of a rubric that no role is shown. It is known only by a hundred pairs of responses, of which the one with more points is preferred. A rule is one of fifteen checks, for every order that a task can ask for or for one of them, so that there are 75; seven of them make up the rubric beside the form. The library begins with one of those and with one that counts nothing.',
    roles:
      'The orchestrator is shown the library, a task, and two responses of which the first is preferred although the library does not prefer it, and writes an edit: a rule to add or to drop. It is asked 32 to 62 times a round, equally often about each of those of forty preferences that the library misses. The judge is shown a rule, a task and a response, and says whether the rule holds, greedily. Both keep the weights of the start. The responder, which is trained, responds.',
    rewards:
      'A response earns the share of the library’s rules that hold by the judge; a text that is no response earns nothing. Nobody else is paid.',
    credit:
      'The eight edits that are written most often are tried, one after the other. An edit is kept if the library with it agrees with more of the sixty other preferences; where as many rules hold for both responses it agrees by half. Rewards are standardised among the responses to one task (GRPO).',
    objective:
      'A clipped policy gradient, ratios in [0.8, 1.2], with a mean over tokens. There is no KL term.',
    schedule:
      'The library evolves in three rounds, in which no weights change. Every round after them trains on fresh tasks under the library as it is then, in four optimiser steps.',
  },
  needsOfTasks: {
    datum: 'rules',
    which: 'rules of which a program can say whether they hold for a response',
  },
  differences: [
    'Responses are words of a source in an order, and preferences those of a rubric of five points, so that an oracle can say what a library leaves out; the paper’s are edits of images, and preferences those of people.',
    'A rule is one of 75 checks; the paper’s library holds skills in free text, and tools. The library is read one rule at a time, since a policy of this size does not apply several at once.',
    'The orchestrator and the judge are small policies that were taught the language of the rules and not which of them count; in the paper large models that nobody trained for it.',
    'Eight edits are tried a round, in three rounds, with one agreement that decides; what the paper’s orchestrator reasons about the failures is here the count of the edits that are written about them.',
    'The responder is trained in the same run, after the library has evolved.',
  ],
  figures: {
    ...RESPONSE_FIGURES,
    rules: 'Number of rules in the library.',
    tried: 'Number of edits that were tried in the round.',
    kept: 'Number of edits that were kept in the round.',
    decided:
      'Share of the sixty preferences that decide about edits with which the library agrees after the round, a tie counting half.',
    verdictsExact: 'Share of the judge’s verdicts on single rules that are right, by the oracle.',
    overpaid: 'Mean reward of a round’s responses minus their share of the rubric’s points.',
    agreement:
      'Share of held-out pairs in which the library, applied by the judge, prefers the response with more points, a tie counting half; of the library before the round that was last played.',
    agreementExact: 'The same share where every rule is applied without error.',
  },
  ...alone,
  rewards: {
    library: {
      description: 'share of the rules of an evolved library that hold, by the judge',
      usesGold: true,
    },
    rubric: { description: 'upper bound: the points of the rubric', usesGold: true },
    ...RESPONSE_CONTROLS,
  },
  variants: VARIANTS,
  sets: {
    [MAIN_SET]: { optimizer: smallSteps({ learningRate: 3e-4, warmup: 8 }) },
    [HELPERS]: { optimizer: null },
  },
  state: libraryState,
  roles: {
    [ORCHESTRATOR]: role('writes edits of the library', EDIT_TOKENS, { set: HELPERS, seesGold: true }),
    ...alone.roles,
    [JUDGE]: role('says whether a rule holds for a response', 2, {
      set: HELPERS,
      sampling: { temperature: 0 },
      shown: 'responses of the data, each without its label',
    }),
  },
  ...inPhases(({ index }) => phaseAt(SCHEDULE, index).phase, {
    evolve: {
      propose: proposeEdits,
      rollOut: applyRules,
      judge: async (_, groups) =>
        rated(groups, new Map(groups.flatMap(({ samples }) => samples.map(({ id }) => [id, null])))),
      learn: evolveLibrary,
    },
    train: { propose: alone.propose, rollOut: alone.rollOut, judge: payResponses, learn: trainResponder },
  }),
  describe: { difficulty: styleDifficulty },
};
