/**
 * The questions of a round of Search Self-Play. Each proposer is given an answer and writes a question; rules and a reader decide whether it is
 * admitted. The oracle is not asked: the reader sees only the documents that the proposer found, among documents of others, and must arrive at the
 * answer.
 */
import type { Played } from '../../core/episodes/play-episodes.ts';
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { groupId, proposalId } from '../../core/round/sample-ids.ts';
import type { Outcome } from '../../core/schema/outcome.ts';
import type { AdmittedTask, Proposals } from '../../core/schema/sample.ts';
import { isHeldOutQuestion, supports, theWorld } from '../../worlds/knowledge/episode.ts';
import { ANSWER_KINDS, admitProposal, MAX_SEARCHES, writeTask } from '../../worlds/knowledge/proposal.ts';
import { PROPOSER, type Research, research } from './searchers.ts';

export interface QuestionGates {
  /** Whether a reader must come to the answer. */
  readonly reader: boolean;
  /** The number of documents of other proposers that it reads as well. */
  readonly noise: number;
  /** Earlier tasks, which take the places of refused proposals. */
  readonly pool: readonly string[];
}

export async function proposeQuestions(context: RoundContext, gates: QuestionGates): Promise<Proposals> {
  const { round } = context;
  const random = new Random(`${round.id}/assignments`);
  const assignments = Array.from({ length: round.settings.tasks }, (_, i) => {
    const kind = random.pick(ANSWER_KINDS);
    return {
      id: proposalId(round.id, PROPOSER, i),
      answer: random.pick(theWorld().world.names[kind]),
      kind,
      searches: 1 + random.int(MAX_SEARCHES),
    };
  });
  const played = await research(context, assignments);
  const seen = new Set<string>();
  const reasons = played.map((episode, i): Outcome => {
    const reason = ruleOf(episode, seen);
    if (reason !== 'ok' || !gates.reader) return reason;
    const others = played.flatMap(({ world }, j) => (j === i ? [] : world.documents));
    return isSupported(episode.world, others, gates.noise, random) ? 'ok' : 'unsupported';
  });
  return {
    round: round.id,
    samples: played.flatMap(({ turns }, i) =>
      turns.map((turn, t) => (t === turns.length - 1 ? { ...turn, outcome: reasons[i]! } : turn)),
    ),
    tasks: tasksOf(context, played, reasons, random.shuffle(gates.pool)),
  };
}

/** The outcome of a proposal under the rules: `ok`, or the reason why it is refused. */
function ruleOf({ world, turns }: Played<Research>, seen: Set<string>): Outcome {
  const { question, answer, queries } = world;
  if (question === null) return turns.at(-1)!.outcome === 'ok' ? 'no-question' : turns.at(-1)!.outcome;
  if (isHeldOutQuestion(question)) return 'held-out';
  const admitted = admitProposal({ question, answer, queries });
  if (!admitted.ok) return admitted.reason;
  if (seen.has(question)) return 'duplicate';
  seen.add(question);
  return 'ok';
}

/** Whether an exact reader arrives at the given answer from the proposer's documents among those of some others. */
function isSupported(
  { question, answer, documents }: Research,
  others: readonly string[],
  noise: number,
  random: Random,
): boolean {
  const foreign = random.shuffle([...new Set(others)]).filter((text) => !documents.includes(text));
  return supports([...documents, ...foreign.slice(0, noise)], question!, answer);
}

/** A new task for each admitted proposal, and one from the pool in the place of each refused one, as long as there are any. */
function tasksOf(
  { round }: RoundContext,
  played: readonly Played<Research>[],
  reasons: readonly string[],
  pool: readonly string[],
): AdmittedTask[] {
  const fresh = played.flatMap(({ world, turns }, i) =>
    reasons[i] === 'ok' ? [{ task: writeTask(world.question!, world.answer), proposal: turns[0]!.id }] : [],
  );
  const fill = pool.slice(0, played.length - fresh.length).map((task) => ({ task, proposal: null }));
  return [...fresh, ...fill].map((task, index) => ({
    ...task,
    group: groupId(round.id, index),
    index,
  }));
}
