/**
 * The texts of Search Self-Play's roles, and the rules a proposal must keep that need neither a model nor an oracle. The proposer
 * knows the answer and searches backwards from it; the solver searches forwards from the question.
 */
import { wrongInput } from '../../core/errors.ts';
import type { ParseResult } from '../../core/recipe/task-family.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { parseTurn } from './episode.ts';
import { parseQuestion } from './question.ts';
import { type Kind, RELATION_NAMES, RELATIONS, type Relation } from './world.ts';

/** Documents a search gives: more would not fit three searches into the context. */
export const FINDINGS = 1;
/** Most searches a proposer is asked for, and hops a demonstrated question has. */
export const MAX_SEARCHES = 3;

/** Kinds of things that a proposer is given as answers. */
export const ANSWER_KINDS = ['town', 'guild', 'land'] as const satisfies readonly Kind[];

/** The proposer is told what kind of thing its answer is, since names do not show it, and how often to search. */
export const proposerPrompt = (answer: string, kind: Kind, searches: number): string =>
  `<propose>${kind} ${answer} ${searches}<sep>`;

/** Relations by which a search for a thing may find what leads to it; one between things of its own kind would find it as subject. */
export const relationsTo = (kind: Kind): Relation[] =>
  RELATION_NAMES.filter((name) => RELATIONS[name][1] === kind && RELATIONS[name][0] !== kind);

export const solverPrompt = (question: string): string => `<solve>${question}<sep>`;

export const writeSearch = (query: string): string => `<step>?${query}<eos>`;
export const writeAnswer = (name: string): string => `<answer>${name}<eos>`;
export const writeProposal = (question: string): string => `<answer>${question}<eos>`;

export type ProposerTurn = { readonly kind: 'search' | 'question'; readonly text: string };

const PROPOSAL = /^<answer>([^<>]{1,120})<eos>$/;

/** One turn of the proposer: a search as the solver's, or a question in the grammar of questions. */
export function parseProposerTurn(text: string): ParseResult<ProposerTurn> {
  const question = PROPOSAL.exec(text)?.[1];
  if (question !== undefined) {
    const parsed = parseQuestion(question);
    return parsed.ok ? ok({ kind: 'question', text: question }) : parsed;
  }
  const turn = parseTurn(text);
  if (!turn.ok) return turn;
  return turn.value.kind === 'search'
    ? ok({ kind: 'search', text: turn.value.text })
    : invalid('no-question');
}

/** What a proposer did: its queries in order, and what each found. */
export interface Researched {
  readonly answer: string;
  readonly question: string;
  readonly queries: readonly string[];
}

/** The rules of a proposal: it searched, it asked no query twice, and its question does not contain the answer. */
export function admitProposal({ answer, question, queries }: Researched): ParseResult<string> {
  if (queries.length === 0) return invalid('no-search');
  if (new Set(queries).size < queries.length) return invalid('repeated-query');
  if (question.split(/[^a-z]+/).includes(answer)) return invalid('gives-away');
  return ok(question);
}

/** A task of the solver: a question, and the answer its proposer was given. The solver sees the question alone. */
export const writeTask = (question: string, answer: string): string => `${question} ${answer}`;

/** Throws on text that is no task. */
export function readTask(task: string): { readonly question: string; readonly answer: string } {
  const [, question, answer] = /^(.+\?) ([a-z]+)$/.exec(task) ?? [];
  if (question !== undefined && answer !== undefined) return { question, answer };
  throw wrongInput('tasks.question', `${JSON.stringify(task)} is no question with an answer.`, {
    expected: 'a question, a space and a name',
  });
}
