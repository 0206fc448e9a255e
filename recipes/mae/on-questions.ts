/**
 * mae on questions of files, for any policy. The files' questions are the paper's reference questions: the proposer varies them, and the solver
 * answers them beside those that the policy wrote. The judge rates by two rubrics; no reference answer is used.
 */
import * as v from 'valibot';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { fillRubric, parseGrade, rubric as rubricSchema, shownQuestion } from '../../core/recipe/rubric.ts';
import { invalid, ok, rendered, type TaskFamily } from '../../core/recipe/task-family.ts';
import type { Renderer } from '../../core/renderer/renderer.ts';
import { evaluation } from '../../core/schema/evaluation.ts';
import { evaluateSolver } from '../../protocols/evaluate/solver.ts';
import type { Needs } from '../../protocols/questions/draw.ts';
import { onQuestions, type QuestionGame, type RecipeOnQuestions } from '../../protocols/questions/game.ts';
import { readTask } from '../../protocols/questions/task-text.ts';
import type { RatedGame, RatedTexts } from './rated-questions.ts';
import { learnFrom, mae, playedOn } from './recipe.ts';

/** Longest rating in tokens; the judge may give its reasons before it. */
const RATING_TOKENS = 128;
const [LEAST, MOST] = [1, 10];

const rubric = (content: string) =>
  v.parse(rubricSchema, {
    messages: [{ role: 'user', content }],
    grade: { tag: 'score', from: LEAST, to: MOST },
    maxNew: RATING_TOKENS,
    temperature: 1,
  });

const SCALE = 'Say briefly why, then write a score from 1 to 10 as <score>SCORE</score>.';
const QUESTION = rubric(
  `Rate a question.\n\nQuestion:\n{{question}}\n\nIs it clear, complete, and can it be answered? 1 to 3: it cannot be answered. 4 to 7: it is unclear. 8 to 10: it is flawless. ${SCALE}`,
);
const ANSWER = rubric(
  `Rate an answer to a question.\n\nQuestion:\n{{question}}\n\nAnswer:\n{{response}}\n\nIs it right? 1 to 3: it is wrong. 4 to 7: it is right in part. 8 to 10: it is right. ${SCALE}`,
);

const questionOf = (task: string): string => shownQuestion(readTask(task).messages);

/** A question has to fit into the context together with an answer and a rating of it. */
const needs =
  (maxNew: number): Needs =>
  (messages) => ({
    messages: fillRubric(ANSWER, { question: shownQuestion(messages), response: '', reference: '' }),
    tokens: maxNew + RATING_TOKENS,
  });

function textsOf(given: TaskFamily, renderer: Renderer): RatedTexts {
  const family = rendered(given, { renderer: () => renderer });
  const ask = (asked: typeof ANSWER, question: string, response: string) =>
    renderer.begin(fillRubric(asked, { question, response, reference: '' })).text;
  return {
    solverPrompt: (task) => family.solverPrompt(task),
    parseAnswer: (task, text) => family.parseSolution(task, text),
    questionPrompt: (task) => ask(QUESTION, questionOf(task), ''),
    answerPrompt: (task, { steps }) => ask(ANSWER, questionOf(task), steps[0]!),
    parseRating: (text) => {
      const grade = parseGrade(ANSWER, renderer.readText(text).text);
      return grade === null ? invalid('off-grammar') : ok(LEAST + grade * (MOST - LEAST));
    },
  };
}

const rated = ({ family, maxNew, tasks, propose }: QuestionGame): RatedGame => {
  const given: RatedGame['given'] = (context) => tasks(context, undefined, needs(maxNew));
  return {
    texts: ({ renderer }) => textsOf(family, renderer()),
    seeds: () => [],
    given,
    propose: (context, varied, sampleIds) => {
      const files = given(context).tasks;
      // There is no prompt without an example here, so a question that is to be varied from none is varied from a question of the files.
      const examples = varied.map((question, i) => ({
        task: question ?? files[i % files.length]!.task,
        sampleIds: [sampleIds[i]!],
      }));
      return propose(context, 'proposer', examples, needs(maxNew));
    },
    isSound: () => null,
    isRight: (task, solution) => (family.isUnlabelled?.(task) ? null : family.answerIsExact(task, solution)),
  };
};

function maeOn(game: QuestionGame): Recipe {
  const { family, maxNew } = game;
  const played = rated(game);
  const { ratings, format, random } = mae.rewards;
  const sampling = { maxNew, temperature: 1 };
  return onQuestions(
    {
      ...mae,
      tasks: 32,
      method: {
        ...mae.method!,
        roles:
          'One set of weights plays three roles. The proposer writes new questions, each varied from a question of the files or a stored one. The solver answers each new question three times, to learn how difficult it is, and as many known questions once, to learn from them. The judge rates new questions and answers from 1 to 10, after reasons where it gives some.',
      },
      differences: [
        'The files’ questions are the reference questions of the paper’s second variant: every proposal varies one of them or a stored one. The store itself holds what the policy wrote and the gate let in.',
        'An answer that is not well-formed is not shown to the judge: it earns nothing and counts 0 in its question’s difficulty.',
        'The judge trains on its ratings of this round’s answers to known questions. Three samples of each question’s rating and of its answers, where the paper has five.',
        'No repetition penalty; rewards are whitened over a role’s samples. There is no oracle of questions, and so no reward `gold`.',
      ],
    },
    {
      taskName: family.name,
      rewards: { ratings: ratings!, format: format!, random: random! },
      roles: {
        proposer: { description: 'writes questions like those it is shown', sampling },
        solver: { description: 'answers questions', sampling },
        judge: {
          description: 'rates questions and answers from 1 to 10',
          sampling: { maxNew: RATING_TOKENS, temperature: 1 },
        },
      },
      freezable: mae.freezable,
      ...playedOn(played),
      learn: (records) => learnFrom(played, records),
      evaluate: async (context) =>
        evaluation(await evaluateSolver(context, { family, role: 'solver', temperature: 1 })),
    },
  );
}

/** The recipe on questions of files, for any policy. */
export const maeOnQuestions: RecipeOnQuestions = {
  make: maeOn,
  ownReward: 'its ratings are the reward',
  ownOrder: 'the files’ questions are examples for its proposer',
};
