/** Whether this Node runs TypeScript as it is. */
export declare const STRIPS_TYPES: boolean;
