/** Where files of tasks lie: on this machine, or fetched from the Hugging Face Hub. */
import { hubDataset } from './hub-dataset.ts';

/** Each set is fetched once in a process. */
const fetched = new Map<string, Promise<string>>();

/** The path of a file of tasks: as it is, or of what is fetched of a data set of the Hub. Throws `hub.name`, and as `fetchDataset`. */
export async function localTasks(text: string): Promise<string> {
  const set = hubDataset(text);
  if (!set) return text;
  const { fetchDataset } = await import('./fetch-dataset.ts');
  const path =
    fetched.get(text) ?? fetchDataset(set, { env: process.env, say: (line) => console.error(line) });
  fetched.set(text, path);
  return path;
}
