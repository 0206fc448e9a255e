/**
 * Questions about programs that one policy proposes, beside a buffer of earlier questions, and solves: the stages of Absolute Zero. The recipe
 * decides what is paid.
 */
import * as v from 'valibot';
import { deriveId, Random } from '../../core/random.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import { admit } from '../../core/round/admit.ts';
import type { Proposals, ScoredGroup } from '../../core/schema/sample.ts';
import { passed, proposeThrough } from '../../protocols/proposals.ts';
import {
  behaviourOfTask,
  kindOf,
  parseProgramProposal,
  programOf,
  programs,
} from '../../worlds/programs/family.ts';
import { MAX_REFERENCES, proposerPromptWith, type QuestionKind } from '../../worlds/programs/questions.ts';

/** The largest number of tasks kept of each kind; the oldest ones are dropped. */
const MAX_KEPT = 1024;

/** Tasks that were valid in earlier rounds, oldest first. A proposer's references are the programs of these tasks. */
export const programBuffer = v.array(v.string());
export type ProgramBuffer = readonly string[];

/** The reference where nothing has been proposed yet: the simplest program on the training side of the split, on which the identity is not. */
const FIRST = '+1';

export const PROPOSER = 'proposer';

export const bufferOf = (recipeState: unknown): ProgramBuffer => readState(programBuffer, recipeState) ?? [];

/** The buffer with a round's valid tasks added. */
export function grown(
  buffer: ProgramBuffer,
  tasks: readonly string[],
  kinds: readonly QuestionKind[],
): string[] {
  const all = [...buffer, ...tasks];
  return kinds.flatMap((kind) => all.filter((task) => kindOf(task) === kind).slice(-MAX_KEPT));
}

/** The references of a proposal: distinct programs of the buffer; for induction the one program that inputs are asked for. */
function references(random: Random, known: readonly string[], kind: QuestionKind): string[] {
  if (known.length === 0) return [FIRST];
  const wanted = kind === 'induction' ? 1 : MAX_REFERENCES;
  return [...new Set(Array.from({ length: wanted }, () => random.pick(known)))];
}

/**
 * Asks for as many proposals of each kind as a round has tasks of that kind, one sample each. The valid ones become tasks, and stored tasks of the
 * same kind replace the others. A proposal of a held-out program is recorded, and neither used nor trained on.
 */
export async function proposePrograms(
  context: RoundContext,
  kinds: readonly QuestionKind[],
  referenced: boolean,
): Promise<Proposals> {
  const { round } = context;
  const buffer = bufferOf(await context.recipeState());
  const known = [...new Set(buffer.map(programOf))];
  const random = new Random(`${round.id}/references`);
  const each = Math.max(1, Math.floor(round.settings.tasks / kinds.length));
  const asked = kinds.flatMap((kind) =>
    Array.from({ length: each }, (_, i) => {
      const shown = referenced || kind === 'induction' ? references(random, known, kind) : [];
      const prompt = proposerPromptWith(kind, shown);
      return { kind, about: kind, shown, prompt, sampleIds: [deriveId(round.id, PROPOSER, kind, i)] };
    }),
  );
  const proposed = await proposeThrough(context, PROPOSER, asked, {
    parse: (text, { kind, shown }) => parseProgramProposal(kind, shown, text),
    isHeldOut: programs.isHeldOut,
  });
  const chosen = kinds.flatMap((kind) => {
    const fresh = passed(proposed.filter(({ request }) => request.kind === kind));
    const stored = buffer.filter((task) => kindOf(task) === kind);
    const fill = stored.length ? each - fresh.length : 0;
    return [...fresh, ...Array.from({ length: fill }, () => ({ task: random.pick(stored), proposal: null }))];
  });
  return { round: round.id, samples: proposed.map(({ sample }) => sample), tasks: admit(round, chosen) };
}

/** Figures of a round's valid questions and of the buffer, for the report; no reward reads them. */
export function programFigures(
  { samples }: Proposals,
  fresh: readonly Pick<ScoredGroup, 'task'>[],
  buffer: ProgramBuffer,
) {
  const tasks = fresh.map(({ task }) => task);
  return {
    valid: mean(samples.map(({ outcome }) => Number(outcome === 'ok'))),
    /** Distinct behaviours among the programs, divided by the number of questions. */
    distinct: new Set(tasks.map(behaviourOfTask)).size / Math.max(1, tasks.length),
    known: new Set(buffer.map(behaviourOfTask)).size,
    difficulty: mean(tasks.map(programs.difficulty)),
  };
}
