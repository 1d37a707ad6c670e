import { Injectable } from '@nestjs/common';
import { createSecret, type TokenOwner } from './access-tokens.js';
import { ExpiringStore } from './expiring-store.js';

/** A user's consent on the authorize page. */
export interface Authorization extends TokenOwner {
  readonly redirectUri: string;
}

const maxCodes = 1_000;

// Lifetime of a code. The platform says "a short time"; RFC 6749 recommends at most 10 minutes.
const lifetimeMs = 10 * 60 * 1_000;

/** Each code is valid once (docs/platform-facts.md §4.1). */
@Injectable()
export class AuthorizationCodes {
  private readonly codes = new ExpiringStore<Authorization>(maxCodes);

  issue(authorization: Authorization, nowMs: number): string {
    const code = createSecret();
    this.codes.add(code, authorization, nowMs + lifetimeMs);
    return code;
  }

  take(code: string, nowMs: number): Authorization | undefined {
    return this.codes.take(code, nowMs);
  }
}
