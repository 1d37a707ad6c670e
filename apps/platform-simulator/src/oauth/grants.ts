import { EventEmitter } from 'node:events';
import { Inject, Injectable } from '@nestjs/common';
import { PlatformLimits } from '../behavior/platform-limits.js';

/** A pair of user and application: the user has granted scopes to the application. */
export interface Consent {
  readonly clientId: string;
  readonly userId: string;
}

/**
 * The scopes that users have granted to applications. Each consent adds its scopes to the earlier ones. The scopes remain when tokens
 * expire or are revoked (FACTS.md §4.1).
 *
 * With the limit `grants: everyone`, every user counts as having granted every scope until the user disconnects the application. Demos then
 * need no consent.
 */
@Injectable()
export class Grants {
  /** Fires after every change. */
  readonly changes = new EventEmitter<{ granted: [Consent]; revoked: [Consent] }>();
  private readonly scopes = new Map<string, { consent: Consent; scopes: Set<string> }>();
  private readonly disconnected = new Set<string>();

  constructor(@Inject(PlatformLimits) private readonly limits: PlatformLimits) {
    this.changes.setMaxListeners(0); // one listener per feature that watches grants
  }

  grant(consent: Consent, scopes: readonly string[]): void {
    const known = this.scopes.get(keyOf(consent))?.scopes ?? [];
    this.scopes.set(keyOf(consent), { consent, scopes: new Set([...known, ...scopes]) });
    this.disconnected.delete(keyOf(consent));
    this.changes.emit('granted', consent);
  }

  /** Disconnects the application: revokes all scopes that the user has granted to it. */
  revoke(consent: Consent): void {
    this.scopes.delete(keyOf(consent));
    this.disconnected.add(keyOf(consent));
    this.changes.emit('revoked', consent);
  }

  /** Revokes all grants of a removed user. */
  revokeAll(userId: string): void {
    const consents = this.list().map(({ consent }) => consent);
    for (const consent of consents) if (consent.userId === userId) this.revoke(consent);
  }

  /** Whether the user has granted at least one of these scopes. */
  hasOneOf(consent: Consent, wanted: readonly string[]): boolean {
    if (this.limits.current.grants === 'everyone') return !this.disconnected.has(keyOf(consent));
    const granted = this.scopes.get(keyOf(consent))?.scopes;
    return wanted.some((scope) => granted?.has(scope));
  }

  /** Whether the user has granted any scope explicitly. */
  hasAuthorized(consent: Consent): boolean {
    return this.scopesOf(consent).length > 0;
  }

  /** Explicitly granted scopes, sorted. */
  scopesOf(consent: Consent): string[] {
    return [...(this.scopes.get(keyOf(consent))?.scopes ?? [])].sort();
  }

  list(): { consent: Consent; scopes: string[] }[] {
    return [...this.scopes.values()].map(({ consent, scopes }) => ({ consent, scopes: [...scopes].sort() }));
  }
}

function keyOf({ clientId, userId }: Consent): string {
  return JSON.stringify([clientId, userId]);
}
