/** How a question can become tokens, as options and orders name it. */
export const RENDERER_KINDS = ['auto', 'chat', 'tags', 'plain'] as const;
export type RendererKind = (typeof RENDERER_KINDS)[number];
