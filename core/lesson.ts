/** What a recipe's `learn` teaches, held to the run's settings: roles that are frozen are not trained, whatever the recipe says. */
import type { Recipe } from './recipe.ts';
import type { LearnTools, Lesson, RoundRecords } from './training.ts';

export async function lessonOf(
  recipe: Pick<Recipe, 'learn'>,
  records: RoundRecords,
  tools: LearnTools,
): Promise<Lesson> {
  const lesson = await recipe.learn(
    { ...records, groups: [...records.groups].sort((a, b) => a.index - b.index) },
    tools,
  );
  const frozen = new Set(records.round.settings.freeze);
  return {
    ...lesson,
    updates: lesson.updates
      .map((update) => ({ ...update, parts: update.parts.filter((part) => !frozen.has(part.role)) }))
      // What would teach frozen roles alone is no update: such a round publishes the weights as they are.
      .filter(({ parts }, u) => parts.length > 0 || lesson.updates[u]!.parts.length === 0),
  };
}
