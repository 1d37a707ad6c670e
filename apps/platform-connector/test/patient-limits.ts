import { callLimits, clientCallLimits, type CallLimits } from '../src/platform/retry-schedule.js';

// On a busy machine, a transaction or a reply can take seconds. The limits stay shorter than a minute, in which a rate limit resets: a call
// then fails instead of waiting.
const patient = { totalMs: 30_000, attemptMs: 20_000 };

// The calls of most tests. Look-ups of users and games have the same limits.
const shortLimits: readonly CallLimits[] = [callLimits.users, clientCallLimits];

/** The product's limits of look-ups. */
export const productLimits: Readonly<Record<'users' | 'streams', CallLimits>> = {
  users: { ...callLimits.users },
  streams: { ...callLimits.streams },
};

/** Gives the calls to the platform more time, for tests that are not about the time limits. */
export function setPatientLimits(): void {
  for (const limits of shortLimits) Object.assign(limits, patient);
  setLimits('streams', productLimits.streams);
}

/** Sets the limits of look-ups, for a test that is about them. `ConnectorSetup.reset` sets the patient limits again. */
export function setLimits(endpoint: 'users' | 'streams', limits: Partial<CallLimits>): void {
  Object.assign(callLimits[endpoint], limits);
}
