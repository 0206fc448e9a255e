/** The families of tasks and the games that every mesh serves to others, whatever recipes it plays. */
import { auto } from '../../core/checkers/auto.ts';
import type { HostedEnvironment } from '../../core/episodes/hosted-environment.ts';
import type { TaskFamily } from '../../core/recipe/task-family.ts';
import { arithmetic } from '../arithmetic/family.ts';
import { chains } from '../chains/family.ts';
import { cipher } from '../cipher/family.ts';
import {
  corpusDocument,
  heldOutDocuments,
  isHeldOutDocument,
  parseContinuation,
  prefixOf,
  truthOf,
  writeDocument,
} from '../documents/family.ts';
import { questions } from '../documents/questions.ts';
import { drawPosition, heldOutPositions, isHeldOutPosition, parsePosition } from '../documents/sums.ts';
import { equations } from '../equations/family.ts';
import { kuhn } from '../games/kuhn.ts';
import { kuhnEquilibrium } from '../games/kuhn-strategy.ts';
import { bestMoves, ticTacToe } from '../games/tic-tac-toe.ts';
import { environments } from '../programs/environments.ts';
import { programs } from '../programs/family.ts';
import { PLAIN, WITH_DIGIT } from '../programs/language.ts';
import { repair } from '../programs/repair.ts';
import { statementOf, statements } from '../programs/statements.ts';
import { rewriting } from '../rewriting/family.ts';
import { MAX_DERIVATION } from '../rewriting/system.ts';
import {
  heldOutStyle,
  isHeldOutStyle,
  parseResponse,
  randomStyleTask,
  STYLE_POINTS,
  styleScore,
} from '../style/family.ts';
import { temporalGraphs } from '../temporal-graphs/family.ts';
import { wordsTaskSet } from '../words/task-set.ts';
import { STOP } from '../worked.ts';
import { hostedFamily, hostedQuestions, hostedTexts } from './answers.ts';
import { hostedGame } from './games.ts';

const TOTALS =
  'The question is a sum, worked out from left to right. The answer is its result, a whole number';

const LANGUAGE =
  'A program is words with a space between any two. It works on a list of whole numbers, the last of which is its top: +k, -k and *k with a digit k change every number; >k and <k keep the greater and the smaller ones; rev reverses and sort orders; dup, drop and swap copy, remove and exchange the top; add, sub and mul take two numbers from the top and put one there; sum leaves the sum alone; len puts the length on top; ( and ) repeat what stands between them while the top is positive. A list is written as numbers with a space between any two, and as _ when it is empty.';

const QUESTIONS =
  'd:program;list asks what comes out. a:program;list asks for a list from which that comes out. The steps of the first, if you give any, are the lists after each word that is run.';

const WORDS_OF_STATEMENTS = [...WITH_DIGIT.map((op) => `${op}1`), ...PLAIN]
  .map((word) => `${statementOf(word)} is ${word}`)
  .join(', ');

const FAULTS = 'What is no move here costs 0.1, and the third time the game';

/** How often the opponent at tic-tac-toe plays at random, so that it can be beaten. */
const RANDOM = 0.5;
/** How often the opponent at Kuhn poker bluffs with a jack: any number from 0 to 1/3 is perfect play. */
const BLUFF = 1 / 6;
const EQUILIBRIUM = kuhnEquilibrium(BLUFF);

/** Whether a text is an exact solution of a family whose solutions are one text. */
const exactText = (family: TaskFamily) => (task: string, text: string) => {
  const solution = family.parseSolution(task, text + family.stop);
  return solution.ok ? Number(family.answerIsExact(task, solution.value)) : null;
};

export const hostedFamilies: readonly HostedEnvironment[] = [
  hostedFamily('arithmetic', arithmetic, `${TOTALS}; the steps are all running totals, or none.`),
  hostedFamily(
    'chains',
    chains,
    `${TOTALS}; the steps are all running totals, of which the last is the answer.`,
  ),
  hostedFamily(
    'equations',
    equations,
    'Solve the equation for x, a whole number. The answer is x; the steps are two lines such as 3*x=15 and x=5, or none.',
  ),
  hostedFamily(
    'rewriting',
    rewriting,
    `The question is rules, a start and a goal, with semicolons between them. A rule such as ab>ba replaces these letters at any one place of a word. The steps are the words that lead from the start to the goal, one to ${MAX_DERIVATION} of them, each by one rule from the one before, and the answer is the goal.`,
  ),
  hostedFamily(
    'programs',
    programs,
    `${LANGUAGE} ${QUESTIONS} i:list=list;… asks for a program that does this, and further lists decide.`,
  ),
  hostedFamily('environments', environments, `${LANGUAGE} ${QUESTIONS}`),
  hostedFamily(
    'repair',
    repair,
    `${LANGUAGE} The program of r:program;list!list;list=list;… has an error: from the list before ! should come the one after it. The answer is the right program; what the others say has to hold as well, and further lists decide.`,
  ),
  hostedFamily(
    'statements',
    statements,
    `${LANGUAGE} The question says what a program does, its last word first: ${WORDS_OF_STATEMENTS}. The answer is such a program; lists that you are not shown decide.`,
  ),
  hostedFamily(
    'temporal-graphs',
    temporalGraphs,
    'The question is a list of links, such as ab3 where a links to b at time 3, then a colon, a node and a time. A link comes again after as long as lay between the last two of the same nodes, and one that came once does not. The answer is the nodes to which the node links at that time, as letters. The steps are one for each node that it has linked to, such as b35:7 where it did at 3 and 5 and will at 7, or c6:? where it did at 6 alone; or none.',
  ),
  hostedTexts(
    'style',
    {
      name: 'style',
      random: (random) => randomStyleTask(random),
      heldOut: heldOutStyle,
      isHeldOut: isHeldOutStyle,
      question: (task) => task,
      score: (task, text) => {
        const response = parseResponse(`<answer>${text}${STOP}`);
        return response.ok ? styleScore(task, response.value) / STYLE_POINTS : null;
      },
    },
    'az 2-4:tok bel ana asks for two to four of these words, from a to z; za asks for the other way round, up for longer and longer ones, down for shorter and shorter ones. The answer is words with one space between any two. It has a point of five each for its form, for two words or more in the order, for words of the list alone, for none twice, and for as many as are asked for.',
  ),
  hostedTexts(
    'documents',
    {
      name: 'documents',
      random: (random) => writeDocument(corpusDocument(random)),
      heldOut: heldOutDocuments,
      isHeldOut: isHeldOutDocument,
      question: prefixOf,
      score: (document, text) => {
        const told = parseContinuation(document, text + STOP);
        return told.ok ? truthOf(prefixOf(document) + told.value) : null;
      },
    },
    'The text before the colon is five names with a number each. The answer goes on with it: all five again in any order, in the same form. It is paid the share of its numbers that are true.',
  ),
  hostedTexts(
    'documents-questions',
    {
      ...questions,
      heldOut: () => questions.heldOut(),
      question: (task) => task.slice(0, task.indexOf('?')),
      score: exactText(questions),
    },
    'The text before the colon is five names with a number each, and after it stands one of the names. The answer is a question to which this name alone is the answer: has and a number, or after or before and another name, as in has 2 or after da.',
  ),
  hostedTexts(
    'documents-sums',
    {
      name: 'sums',
      random: (random) => drawPosition(random, false, true),
      heldOut: heldOutPositions,
      isHeldOut: isHeldOutPosition,
      question: (task) => parsePosition(task).before,
      score: (task, text) => Number(text === parsePosition(task).next),
    },
    'A text of sums, and of names with a number that means nothing. It ends in a sum, whose result is one digit. The answer is this digit.',
  ),
  hostedTexts(
    'cipher',
    {
      ...cipher,
      heldOut: () => cipher.heldOut(),
      question: (sentence) => sentence,
      score: exactText(cipher),
    },
    'A sentence of one of two invented languages, six words of a letter each; those of the other language are capital where these are small. The answer is the sentence in the other language. The last word of the small one stands first in the capital one, and no word means the one that looks like it.',
  ),
  hostedGame({
    game: kuhn,
    rules: `Kuhn poker with a jack, a queen and a king: each player antes 1, is dealt one card, and may pass or bet 1 in turn. After a bet, pass gives up and bet calls; otherwise the higher card wins. You see your card, j, q or k, and the moves so far, p and b. Your moves are pass and bet. ${FAULTS} and 2.`,
    opponent: ({ observation }, random) => (random.bool(EQUILIBRIUM[observation]!) ? 'bet' : 'pass'),
  }),
  hostedGame({
    game: ticTacToe,
    rules: `Tic-tac-toe: three in a row win 1 and lose 1. A move is a cell, 1 to 9 in reading order; the board shows x, o and . for an empty cell, and which of them you are. ${FAULTS}.`,
    opponent: ({ state, actions }, random) =>
      random.pick(random.bool(RANDOM) ? actions : bestMoves(state.cells)),
  }),
  hostedQuestions('words', () => ({
    tasks: wordsTaskSet(),
    checker: auto,
    extract: ['boxed', 'answer', 'whole'],
  })),
];
