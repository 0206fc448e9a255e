/** The world of one-line documents as a game: questions over two and three documents, that a policy answers at once or after it has searched. */

import type { Wordings } from '../../core/game/game.ts';
import type { AboutOf } from '../../core/game/verbs.ts';
import { Random } from '../../core/random.ts';
import { HELD_OUT } from '../../core/recipe/split.ts';
import { invalid, ok, type TaskFamily } from '../../core/recipe/task-family.ts';
import { familyGame } from '../family-game.ts';
import { STOP } from '../worked.ts';
import {
  answerOf,
  drawQuestion,
  isHeldOutQuestion,
  parseTurn,
  pathQuestions,
  questionDifficulty,
  theWorld,
  writeFindings,
} from './episode.ts';
import { declines, plantedOrder, repairWords } from './guarded.ts';
import { FINDINGS, solverPrompt, writeSearch } from './proposal.ts';

/** Longest search or answer in tokens, its end included. */
const TURN_TOKENS = 22;
const HOPS = [2, 3] as const;
/** How many questions of a side of the split an evaluation asks at most. */
const EXAMINED = 200;

const unasked = (): never => {
  throw new Error('internal: the world of documents has neither proposers nor judges of solutions');
};

const family: TaskFamily = {
  name: 'knowledge',
  maxNew: { proposer: TURN_TOKENS, solver: TURN_TOKENS, judge: TURN_TOKENS },
  stop: STOP,
  workedPrefix: '',
  random: (random) => drawQuestion(random, theWorld(), { hops: HOPS, described: 0 }),
  heldOut: ({ heldOut, most } = HELD_OUT) => {
    const all = HOPS.flatMap((hops) => pathQuestions(theWorld(), hops, heldOut));
    return new Random('knowledge/searching').shuffle(all).slice(0, Math.min(EXAMINED, most));
  },
  isHeldOut: isHeldOutQuestion,
  difficulty: questionDifficulty,
  proposerPrompt: unasked,
  solverPrompt,
  judgePrompt: unasked,
  parseProposal: unasked,
  parseSolution: (_, text) => {
    const turn = parseTurn(text);
    if (!turn.ok) return turn;
    return turn.value.kind === 'answer' ? ok({ steps: [], answer: turn.value.text }) : invalid('off-grammar');
  },
  parseJudgment: unasked,
  answerIsExact: (task, { answer }) => answer === answerOf(theWorld(), task),
  exactJudgment: (task, { answer }) => ({ steps: [], right: answer === answerOf(theWorld(), task) }),
};

/** The question, and each search with what it found. */
const transcript = ({ task, steps }: Pick<AboutOf<'search'>, 'task' | 'steps'>): string =>
  steps.reduce(
    (text, { query, found }) => text + writeSearch(query) + writeFindings(found),
    solverPrompt(task),
  );

const words: Wordings<'search' | 'sift'> = {
  search: {
    maxNew: TURN_TOKENS,
    ask: transcript,
    read: (text) => {
      const turn = parseTurn(text);
      if (!turn.ok) return turn;
      return ok(
        turn.value.kind === 'search'
          ? { query: turn.value.text }
          : { solution: { steps: [], answer: turn.value.text } },
      );
    },
  },
  /** Whoever would answer now calls what was found useful, and whoever would search again does not. */
  sift: {
    maxNew: TURN_TOKENS,
    ask: transcript,
    read: (text) => {
      const turn = parseTurn(text);
      return turn.ok ? ok(turn.value.kind === 'answer') : turn;
    },
  },
};

/** A search, `RELATION NAME`, as a question over one document. */
const askedBy = (query: string): string => `the ${query.replace(' ', ' of ')}?`;

/** The reader is asked what a search looks for, as whoever searched for it, and the name that it answers is told as a document. */
const digest: Wordings<'digest'>['digest'] = {
  maxNew: TURN_TOKENS,
  ask: ({ query, found }) => transcript({ task: askedBy(query), steps: [{ query, found, useful: null }] }),
  read: (text, { query }) => {
    const turn = parseTurn(text);
    if (!turn.ok) return turn;
    return turn.value.kind === 'answer'
      ? ok(`${askedBy(query).slice(0, -1)} is ${turn.value.text}.`)
      : invalid('off-grammar');
  },
};

export const searching = familyGame(family, {
  words: { ...words, digest, repair: repairWords(words.search) },
  data: ['documents'],
  library: {
    search: (query) => theWorld().index.search(query, FINDINGS),
    hold: (documents, task) => {
      const answer = answerOf(theWorld(), task);
      return answer !== null && documents.some((document) => document.split(/[^a-z]+/).includes(answer));
    },
    plant: plantedOrder,
    declines,
  },
});
