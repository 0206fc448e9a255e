/**
 * Search Self-Play's questions of a round. Each proposer is given an answer and writes a question; rules and a reader decide what is
 * admitted. No oracle does: the reader knows no more than what the proposer read, among what others read, and must come to the answer.
 */
import type { Played } from '../../core/play-episodes.ts';
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/round-context.ts';
import { groupId, proposalId } from '../../core/sample-ids.ts';
import type { Outcome } from '../../core/schema/outcome.ts';
import type { AdmittedTask, Proposals } from '../../core/schema/sample.ts';
import { isHeldOutQuestion, supports } from '../../tasks/knowledge/episode.ts';
import { ANSWER_KINDS, admitProposal, MAX_SEARCHES, writeTask } from '../../tasks/knowledge/proposal.ts';
import { PROPOSER, type Research, research, theWorld } from './searchers.ts';

export interface QuestionGates {
  /** Whether a reader must come to the answer. */
  readonly reader: boolean;
  /** Documents of other proposers that it reads besides. */
  readonly noise: number;
  /** Earlier tasks that fill the places of proposals that are refused. */
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

/** What the rules make of a proposal: `ok`, or why not. */
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

/** Whether the proposer's documents among some of others' lead an exact reader to the answer it was given. */
function isSupported(
  { question, answer, documents }: Research,
  others: readonly string[],
  noise: number,
  random: Random,
): boolean {
  const foreign = random.shuffle([...new Set(others)]).filter((text) => !documents.includes(text));
  return supports([...documents, ...foreign.slice(0, noise)], question!, answer);
}

/** A fresh task for each admitted proposal, and one of the pool in the place of each that was refused, as far as it goes. */
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
