/** What a screen reader is given of a page: Chromium's accessibility tree, and what axe-core finds in the page itself. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface Spoken {
  readonly role: string;
  readonly name: string;
  /** All text in it, in the order in which it is read. */
  readonly text: string;
  readonly focusable: boolean;
  /** Of a heading. */
  readonly level: number;
  /** Whether what changes in it is read out. */
  readonly live: string;
}

/** The nodes that a screen reader is given, in the order in which it reads them. */
export async function spokenNodes(page: Page): Promise<Spoken[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  await session.detach();
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const spoken: Spoken[] = [];
  const read = (id: string): string => {
    const node = byId.get(id);
    if (!node) return '';
    const [role, name] = [node.role, node.name].map((value) => String(value?.value ?? ''));
    const property = (wanted: string) => node.properties?.find(({ name: of }) => of === wanted)?.value.value;
    const at = spoken.length;
    const text = [role === 'StaticText' ? name : '', ...(node.childIds ?? []).map(read)].join('');
    if (!node.ignored)
      spoken.splice(at, 0, {
        role: role!,
        name: name!,
        text,
        focusable: property('focusable') === true,
        level: Number(property('level') ?? 0),
        live: String(property('live') ?? ''),
      });
    return text;
  };
  read(nodes.find(({ parentId }) => parentId === undefined)!.nodeId);
  return spoken;
}

/** Roles that are found by jumping from one to the next, so that each has a name and something in it. */
const NAMED_PARTS = ['region', 'form'];

/** What is wrong with what a screen reader is given. */
export function faultsIn(nodes: readonly Spoken[]): string[] {
  const faults = nodes.flatMap(({ role, name, text, focusable }) => {
    if (role === 'RootWebArea' || role === 'main') return [];
    if (focusable && !name.trim()) return [`a ${role} takes the focus and has no name: ${text}`];
    // A heading alone says no more than the name.
    const isEmpty = NAMED_PARTS.includes(role) && (!name || ['', name].includes(text.trim()));
    return isEmpty ? [`a part has no name or nothing in it: ${name}`] : [];
  });
  const mains = nodes.filter(({ role }) => role === 'main').length;
  if (mains !== 1) faults.push(`${mains} main landmarks`);
  const levels = nodes.filter(({ role }) => role === 'heading').map(({ level }) => level);
  if (levels.filter((level) => level === 1).length !== 1) faults.push(`headings of levels ${levels}`);
  if (levels.some((level, i) => level > (levels[i - 1] ?? 0) + 1)) faults.push(`headings skip: ${levels}`);
  return faults;
}

/** What would stop a reader who cannot see the page: by its tree, and by axe-core's rules. */
export async function faultsOf(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'] }),
  );
  return [
    ...faultsIn(await spokenNodes(page)),
    ...violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`)),
  ];
}
