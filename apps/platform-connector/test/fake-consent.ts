import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { answerWith, type FakePlatform, type ReceivedCall } from './fake-platform.js';

/** What a user decided about a device code. */
export type Decision = 'pending' | 'granted' | 'refused';

/** The fake platform's side of user consent: codes, and one-time refresh tokens (FACTS.md §4.1, §4.7, and §4.8). */
export class FakeConsent {
  decision: Decision = 'pending';
  /** The platform's reply about a device code that the user has refused. */
  refusal = 'invalid device code';
  user = { user_id: '77', login: 'mira', scopes: ['bits:read'] };
  /** How often the platform asks clients to poll, in seconds. */
  interval = 1;
  expiresInSeconds = 1_800;
  /** Whether the application is confidential and therefore needs its secret to refresh. */
  needsSecret = false;
  /** Whether the application's secret is accepted. */
  acceptsSecret = true;
  /** The access tokens whose validation fails with status 500. */
  readonly unverifiable = new Set<string>();
  /** Cuts the connection after handling this kind of request, so that its reply is lost. */
  losesReplyTo: string | undefined;
  /** Handles this kind of request, but holds back the replies until `releaseReplies`. */
  holdsReplyTo: string | undefined;
  /** Every code and token that was ever issued. */
  readonly issued: string[] = [];
  refreshes = 0;
  private readonly heldReplies: (() => void)[] = [];
  private readonly codes = new Set<string>();
  private readonly browserCodes = new Map<string, string>();
  private readonly accessTokens = new Set<string>();
  private readonly refreshTokens = new Set<string>();

  constructor(platform: FakePlatform) {
    platform.fault = (call, response) => this.handle(call, response);
  }

  /** Issues the code that the browser brings back to this address after its user has given consent. */
  issueBrowserCode(redirectUri: string): string {
    const code = this.issue(this.codes);
    this.browserCodes.set(code, redirectUri);
    return code;
  }

  get held(): number {
    return this.heldReplies.length;
  }

  releaseReplies(): void {
    for (const reply of this.heldReplies.splice(0)) reply();
  }

  expireAccessTokens(): void {
    this.accessTokens.clear();
  }

  /** Disconnects the application, as a user can do on the platform. */
  disconnect(): void {
    this.accessTokens.clear();
    this.refreshTokens.clear();
  }

  isValid(accessToken: string): boolean {
    return this.accessTokens.has(accessToken);
  }

  get validAccessTokens(): number {
    return this.accessTokens.size;
  }

  private handle(call: ReceivedCall, response: ServerResponse): boolean {
    const answer = this.answer(call, new URLSearchParams(call.body));
    if (!answer) return false;
    if (this.losesReplyTo === call.name) {
      this.losesReplyTo = undefined;
      response.destroy();
      return true;
    }
    const reply = (): boolean => answerWith(response, answer[0], JSON.stringify(answer[1]));
    if (this.holdsReplyTo !== call.name) return reply();
    this.heldReplies.push(reply);
    return true;
  }

  private answer({ name, headers }: ReceivedCall, form: URLSearchParams): [number, object] | undefined {
    const grant = form.get('grant_type');
    if (name === 'POST /oauth2/device') return [200, this.issueCode()];
    if (name === 'GET /oauth2/validate') return this.validate(headers.authorization);
    if (name === 'POST /oauth2/revoke') {
      this.accessTokens.delete(form.get('token') ?? '');
      return [200, {}];
    }
    if (grant === 'authorization_code') return this.exchange(form);
    if (grant === 'refresh_token') return this.refresh(form);
    return grant?.endsWith('device_code') ? this.redeem(form.get('device_code') ?? '') : undefined;
  }

  private issueCode(): object {
    const code = this.issue(this.codes);
    return {
      device_code: code,
      user_code: 'ABCDEFGH',
      verification_uri: 'https://platform.example/activate?device-code=ABCDEFGH',
      interval: this.interval,
      expires_in: this.expiresInSeconds,
    };
  }

  private redeem(code: string): [number, object] {
    if (!this.codes.has(code) || this.decision === 'refused') return rejected(this.refusal);
    if (this.decision === 'pending') return rejected('authorization_pending');
    this.codes.delete(code);
    return [200, this.issueTokens()];
  }

  /** Exchanges a code. A code works once, and only with the address with which the page was opened. */
  private exchange(form: URLSearchParams): [number, object] {
    if (!this.acceptsSecret) return rejected('invalid client secret', 403);
    const code = form.get('code') ?? '';
    const isValid = this.browserCodes.get(code) === form.get('redirect_uri') && form.has('client_secret');
    if (!this.browserCodes.delete(code) || !isValid) return rejected('Invalid authorization code');
    return [200, this.issueTokens()];
  }

  private refresh(form: URLSearchParams): [number, object] {
    this.refreshes += 1;
    if (this.needsSecret && !form.has('client_secret')) return rejected('missing client secret');
    if (!this.refreshTokens.delete(form.get('refresh_token') ?? '')) return rejected('Invalid refresh token');
    return [200, this.issueTokens()];
  }

  private validate(authorization = ''): [number, object] {
    const token = authorization.replace('OAuth ', '');
    if (this.unverifiable.has(token)) return [500, { status: 500, message: 'internal error' }];
    if (!this.accessTokens.has(token)) return [401, { status: 401, message: 'invalid access token' }];
    return [200, { client_id: 'any', ...this.user, expires_in: 14_000 }];
  }

  private issueTokens(): object {
    return {
      access_token: this.issue(this.accessTokens),
      refresh_token: this.issue(this.refreshTokens),
      scope: this.user.scopes,
      expires_in: 14_400,
      token_type: 'bearer',
    };
  }

  private issue(into: Set<string>): string {
    const token = randomBytes(15).toString('hex');
    into.add(token);
    this.issued.push(token);
    return token;
  }
}

function rejected(message: string, status = 400): [number, object] {
  return [status, { status, message }];
}
