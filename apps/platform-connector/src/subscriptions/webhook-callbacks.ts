import { readCallback } from '@stream-events/platforms';

/**
 * Which secret signs the messages to a callback: the `first` of the configured ones, an `other` one of them, or a `removed` one, whose
 * messages the gateways reject.
 */
export type SecretKind = 'first' | 'other' | 'removed';

/** The callbacks of this service: one for each webhook secret, and the plain one of versions that had one for all secrets. */
export class WebhookCallbacks {
  /**
   * @param fingerprints of the configured secrets, in their order
   * @param plainFingerprint of the secret of the plain callback; empty when it is not known. Then its subscriptions move, too
   */
  constructor(
    private readonly publicUrl: string,
    private readonly fingerprints: readonly string[],
    private readonly plainFingerprint: string,
  ) {}

  /** Undefined for a callback that is not ours. */
  kindOf(callback: string | null): SecretKind | undefined {
    const found = readCallback(this.publicUrl, callback);
    if (found === undefined) return undefined;
    const fingerprint = found === '' ? this.plainFingerprint : found;
    if (fingerprint === '') return 'other';
    if (fingerprint === this.fingerprints[0]) return 'first';
    return this.fingerprints.includes(fingerprint) ? 'other' : 'removed';
  }
}
