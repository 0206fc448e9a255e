/**
 * The two roles of Search Self-Play in one world: a proposer that searches backwards from an answer it is given, and a solver
 * that searches forwards from a question.
 */
import { type Played, playEpisodes } from '../../core/episodes/play-episodes.ts';
import type { SamplingSettings } from '../../core/policy/policy.ts';
import { deriveId, Random } from '../../core/random.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { tallyOfShares } from '../../core/statistics/change.ts';
import {
  answerOf,
  parseTurn,
  pathQuestions,
  theWorld,
  writeFindings,
} from '../../worlds/knowledge/episode.ts';
import {
  FINDINGS,
  MAX_SEARCHES,
  parseProposerTurn,
  proposerPrompt,
  solverPrompt,
} from '../../worlds/knowledge/proposal.ts';
import type { Kind } from '../../worlds/knowledge/world.ts';

export const PROPOSER = 'proposer';
export const SOLVER = 'solver';

/** Token limits, stop token included: the longest question; and the longest search or answer. */
export const TURN_TOKENS = { proposer: 58, solver: 22 } as const;

export interface Assignment {
  readonly id: string;
  readonly answer: string;
  readonly kind: Kind;
  /** The number of searches that the proposer is told to make. */
  readonly searches: number;
}

export interface Research extends Assignment {
  readonly queries: readonly string[];
  readonly documents: readonly string[];
  /** null where the episode ended without one. */
  readonly question: string | null;
}

/** The proposers' episodes: searches, until the proposer writes a question or a turn breaks the grammar. */
export const research = (
  context: RoundContext,
  assignments: readonly Assignment[],
): Promise<Played<Research>[]> =>
  playEpisodes(
    context,
    PROPOSER,
    assignments.map((assignment) => ({
      id: assignment.id,
      prompt: proposerPrompt(assignment.answer, assignment.kind, assignment.searches),
      world: { ...assignment, queries: [], documents: [], question: null } as Research,
    })),
    {
      maxTurns: MAX_SEARCHES + 1,
      answer: (state, text) => {
        const turn = parseProposerTurn(text);
        if (!turn.ok) return { world: state, reply: null, outcome: turn.reason };
        if (turn.value.kind === 'question')
          return { world: { ...state, question: turn.value.text }, reply: null, outcome: 'ok' };
        const found = theWorld().index.search(turn.value.text, FINDINGS);
        const queries = [...state.queries, turn.value.text];
        const documents = [...new Set([...state.documents, ...found])];
        return { world: { ...state, queries, documents }, reply: writeFindings(found), outcome: 'ok' };
      },
    },
  );

export interface Search {
  readonly searches: number;
  /** null where the episode ended without one. */
  readonly answer: string | null;
}

/** The solvers' episodes: searches, until the solver answers or a turn breaks the grammar. */
export const solve = (
  context: RoundContext,
  questions: readonly { readonly id: string; readonly question: string }[],
  sampling: Partial<SamplingSettings> = {},
): Promise<Played<Search>[]> =>
  playEpisodes(
    context,
    SOLVER,
    questions.map(({ id, question }) => ({
      id,
      prompt: solverPrompt(question),
      world: { searches: 0, answer: null } as Search,
    })),
    {
      maxTurns: MAX_SEARCHES + 1,
      sampling,
      answer: (state, text) => {
        const turn = parseTurn(text);
        if (!turn.ok) return { world: state, reply: null, outcome: turn.reason };
        if (turn.value.kind === 'answer')
          return { world: { ...state, answer: turn.value.text }, reply: null, outcome: 'ok' };
        const found = theWorld().index.search(turn.value.text, FINDINGS);
        return {
          world: { ...state, searches: state.searches + 1 },
          reply: writeFindings(found),
          outcome: 'ok',
        };
      },
    },
  );

/** The answer in a solver's last turn, from the record; null where that turn is not an answer. */
export function answerIn(
  { tokenizer }: Pick<RoundContext, 'tokenizer'>,
  turns: readonly Sample[],
): string | null {
  const parsed = parseTurn(tokenizer.decode(turns.at(-1)!.ids));
  return parsed.ok && parsed.value.kind === 'answer' ? parsed.value.text : null;
}

/**
 * The largest number of questions for each number of hops. Claims are judged by sampled answers, so sampling uses all held-out questions: 70, 178 and
 * 415.
 */
const MOST = { greedy: 50, sampled: 450 } as const;

/** Points of questions, [hops][questions]: all questions of a number of hops together count as much as those of another. */
const tallyByHops = (right: readonly (readonly boolean[])[]) => {
  const fewest = Math.min(...right.map((hits) => hits.length));
  return tallyOfShares(right.flatMap((hits) => hits.map((hit) => (Number(hit) * fewest) / hits.length)));
};

/** The share of exact answers to held-out questions, by hops: greedy, and sampled at temperature 1 for questions of two and three hops. */
export async function evaluateSearch(context: EvaluationContext): Promise<Evaluation> {
  const { heldOut, most } = context.evaluationTasks;
  const figures: Record<string, number> = {};
  const answered: number[] = [];
  const multiHops: Record<'greedy' | 'sampled', boolean[][]> = { greedy: [], sampled: [] };
  let n = 0;
  for (let hops = 1; hops <= MAX_SEARCHES; hops++) {
    const all = pathQuestions(theWorld(), hops, heldOut);
    const drawn = new Random(`knowledge/exam/${hops}`).shuffle(all).slice(0, Math.min(MOST.sampled, most));
    const questions = drawn.map((question) => ({ id: deriveId('evaluation', question), question }));
    if (hops > 1) n += questions.length;
    for (const [name, temperature] of [
      ['greedy', 0],
      ['sampled', 1],
    ] as const) {
      const asked = questions.slice(0, MOST[name]);
      const played = await solve(context, asked, { temperature });
      const right = played.map(
        ({ world: { answer } }, i) => answer === answerOf(theWorld(), asked[i]!.question),
      );
      figures[`${name}-${hops}`] = mean(right.map(Number));
      if (hops > 1) multiHops[name].push(right);
      answered.push(...played.map(({ world: { answer } }) => Number(answer !== null)));
    }
  }
  const multiHop = (name: string) => mean([figures[`${name}-2`]!, figures[`${name}-3`]!]);
  return evaluation(
    {
      n,
      accuracy: multiHop('greedy'),
      sampled: multiHop('sampled'),
      formatRate: mean(answered),
      tallies: { accuracy: tallyByHops(multiHops.greedy), sampled: tallyByHops(multiHops.sampled) },
    },
    figures,
  );
}
