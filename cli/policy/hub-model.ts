/** How a model of the Hugging Face Hub is named on a command line. */
import { wrongInput } from '../../core/errors.ts';

/** A repository of models, and a branch, tag or commit of it. */
export interface HubModel {
  readonly repository: string;
  readonly revision: string;
}

/** Reads `hf:ORG/NAME` or `hf:ORG/NAME@REVISION`; undefined for anything that does not begin with `hf:`. Throws `hub.name`. */
export function hubModel(text: string): HubModel | undefined {
  if (!text.startsWith('hf:')) return undefined;
  const [, repository, revision = 'main'] =
    /^hf:(\w[\w.-]{0,95}\/\w[\w.-]{0,95})(?:@(\w[\w./-]{0,200}))?$/.exec(text) ?? [];
  if (!repository)
    throw wrongInput('hub.name', `${JSON.stringify(text)} names no model of the Hub.`, {
      expected: 'hf:ORGANISATION/NAME, or hf:ORGANISATION/NAME@REVISION',
      next: 'Take the name from the address of the model’s page.',
    });
  return { repository, revision };
}
