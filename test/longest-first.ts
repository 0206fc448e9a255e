/**
 * The order of test files. Those with a process of their own come first, then project by project those that share one, since a process is kept while
 * the next file is of its project: the longest projects first. Of each, those that take longest begin first, so that none of them is left to run alone at the end.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that took longest in a run of CI, longest first. A file that is missing here costs time and nothing else. */
const LONG = [
  'learner/engine-webgpu',
  'learner/gpu-features',
  'nodes/close',
  'mesh/every-recipe',
  'browser/every-recipe',
  'cli/readme',
  'trust/kill-every-stage',
  'cli/my-own-run',
  'nodes/churn',
  'mesh/agent-seats',
  'trust/audit',
  'mesh/task-files',
  'mesh/loop',
  'cli/agent-examples',
  'cli/two-starts',
  'trust/kill',
  'mesh/agent-episodes',
  'nodes/nodes',
  'nodes/changed-weights',
  'mesh/agent-commands',
  'cli/start-command',
  'cli/served',
  'mesh/question-recipes',
  'recipes/gold-audit',
  'nodes/tab-engines',
  'mesh/deploy-dry-run',
  'cli/policy/import-killed',
  'trust/paused-and-repeated',
  'browser/page',
  'cli/full-disk',
  'mesh/played-environments',
  'cli/policy/command',
  'mesh/model-endpoints',
  'mesh/ahead',
  'trust/hostile',
  'cli/sweep/play-run',
  'mesh/restart',
  'mesh/rounds',
  'mesh/gateway',
  'mesh/all-at-once',
  'cli/policy/remote',
  'nodes/mixed',
  'learner/engine-kernels',
  'cli/policy/policy',
  'mesh/cpu-budget',
  'cli/answer-times',
  'learner/losses/distil-states',
];

const rank = ({ moduleId }: TestSpecification): number => {
  const at = LONG.findIndex((file) => moduleId.endsWith(`/test/${file}.test.ts`));
  return at < 0 ? LONG.length : at;
};

/** The projects whose files share their processes, in the order in which they are run. */
const SHARED = ['mesh', 'parts', 'unit'];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // The base order goes by project, and is kept among the others: by the time that they took before, where that is known.
    const sorted = await super.sort(files);
    const group = ({ project }: TestSpecification) => SHARED.indexOf(project.name);
    return sorted.sort((a, b) => group(a) - group(b) || rank(a) - rank(b));
  }
}
