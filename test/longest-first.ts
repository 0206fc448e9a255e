/**
 * The order of test files. Those with a process of their own come first, then project by project those that share one, since a process is kept while
 * the next file is of its project: the longest projects first. Of each, those that take longest begin first, so that none of them is left to run alone at the end.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that took longest in a run of CI, longest first. A file that is missing here costs time and nothing else. */
const LONG = [
  'docs/played',
  'learner/engine-webgpu',
  'cli/full-disk',
  'cli/readme',
  'mesh/every-recipe',
  'nodes/close',
  'recipes/gold-audit',
  'cli/my-own-run',
  'trust/kill-every-stage',
  'browser/every-recipe',
  'nodes/nodes',
  'mesh/question-recipes',
  'cli/agent-examples',
  'learner/gpu-features',
  'mesh/played-environments',
  'mesh/restart',
  'trust/paused-and-repeated',
  'mesh/deploy-dry-run',
  'mesh/loop',
  'mesh/task-files',
  'mesh/agent-seats',
  'trust/forger-table',
  'trust/kill',
  'cli/serve',
  'nodes/tab-engines',
  'cli/served',
  'cli/start-command',
  'mesh/agent-commands',
  'learner/engine-kernels',
  'nodes/changed-weights',
  'mesh/agent-episodes',
  'nodes/cheat',
  'browser/try',
  'mesh/uploads',
  'examples/loop',
  'cli/sweep/play-run',
  'browser/start-nodes',
  'trust/verify',
  'mesh/ahead',
  'learner/losses/distil-states',
  'local/in-process',
  'cli/policy/import-killed',
  'browser/foreign-page',
  'workers/share-out',
  'cli/two-starts',
  'browser/page',
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
