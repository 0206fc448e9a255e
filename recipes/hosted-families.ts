/** The families of answers that every mesh serves to others, whatever recipes it plays. */
import { auto } from '../core/checkers/auto.ts';
import type { HostedEnvironment } from '../core/hosted-environment.ts';
import { hostedFamily, hostedQuestions } from '../protocols/hosted-answers.ts';
import { arithmetic } from '../tasks/arithmetic/family.ts';
import { chains } from '../tasks/chains/family.ts';
import { equations } from '../tasks/equations/family.ts';
import { environments } from '../tasks/programs/environments.ts';
import { programs } from '../tasks/programs/family.ts';
import { PLAIN, WITH_DIGIT } from '../tasks/programs/language.ts';
import { repair } from '../tasks/programs/repair.ts';
import { statementOf, statements } from '../tasks/programs/statements.ts';
import { rewriting } from '../tasks/rewriting/family.ts';
import { MAX_DERIVATION } from '../tasks/rewriting/system.ts';
import { temporalGraphs } from '../tasks/temporal-graphs/family.ts';
import { wordsTaskSet } from '../tasks/words/task-set.ts';

const TOTALS =
  'The question is a sum, worked out from left to right. The answer is its result, a whole number';

const LANGUAGE =
  'A program is words with a space between any two. It works on a list of whole numbers, the last of which is its top: +k, -k and *k with a digit k change every number; >k and <k keep the greater and the smaller ones; rev reverses and sort orders; dup, drop and swap copy, remove and exchange the top; add, sub and mul take two numbers from the top and put one there; sum leaves the sum alone; len puts the length on top; ( and ) repeat what stands between them while the top is positive. A list is written as numbers with a space between any two, and as _ when it is empty.';

const QUESTIONS =
  'd:program;list asks what comes out. a:program;list asks for a list from which that comes out. The steps of the first, if you give any, are the lists after each word that is run.';

const WORDS_OF_STATEMENTS = [...WITH_DIGIT.map((op) => `${op}1`), ...PLAIN]
  .map((word) => `${statementOf(word)} is ${word}`)
  .join(', ');

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
  hostedQuestions('words', () => ({
    tasks: wordsTaskSet(),
    checker: auto,
    extract: ['boxed', 'answer', 'whole'],
  })),
];
