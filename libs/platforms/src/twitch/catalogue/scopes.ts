import { readData } from './read-data.js';

/** A permission that a user can grant on the platform (FACTS.md §6). */
export interface Scope {
  scope: string;
  description: string;
}

/** All 81 scopes. */
export const scopes = readData('scopes') as readonly Scope[]; // Safe cast: scopes.spec.ts checks the data.
