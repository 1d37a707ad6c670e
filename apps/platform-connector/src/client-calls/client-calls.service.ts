import { Inject, Injectable } from '@nestjs/common';
import type { CallPlatformReply, CallPlatformRequest } from '@stream-events/contracts';
import { PlatformUnavailableError, toApiUrl, type PassedReply } from '@stream-events/platforms';
import { PlatformClient } from '../platform/platform-client.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';
import { CallTokens } from './call-tokens.service.js';
import { CallableEndpoints } from './callable-endpoints.service.js';

// The retry time when no platform is configured. It is long, because calls fail until the service restarts with another configuration.
const noPlatformRetrySeconds = 3_600;

// The content types to pass on unchanged. Other content, such as HTML from a proxy, gets `otherType`, so that no browser renders it as a
// page of this service.
const passedTypes = /^(application\/json|text\/calendar|text\/plain)\b/i;
const otherType = 'application/octet-stream';

/** Calls the platform's API for clients. The endpoint catalog and the call's own contents decide which token to use. */
@Injectable()
export class ClientCalls {
  constructor(
    private readonly client: PlatformClient,
    private readonly endpoints: CallableEndpoints,
    private readonly tokens: CallTokens,
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
  ) {}

  /** @throws ServiceError, PlatformUnavailableError */
  async call(request: CallPlatformRequest): Promise<CallPlatformReply> {
    if (this.settings.platform === 'none')
      throw new PlatformUnavailableError(
        'No platform is configured (PLATFORM is none).',
        noPlatformRetrySeconds,
      );
    const endpoint = await this.endpoints.find(request);
    const { method, query, body } = request;
    const tokens = await this.tokens.find(endpoint, request);
    const url = toApiUrl(this.settings.urls, endpoint, query);
    const reply = await this.client.pass({ method, url, ...(body !== null && { body }) }, tokens);
    return this.toReply(reply);
  }

  private toReply({ status, headers, bytes }: PassedReply): CallPlatformReply {
    const passed = this.settings.definition.protocol.passedHeaders.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value] as const] : [];
    });
    const type = headers['content-type'];
    const isPassed = typeof type === 'string' && passedTypes.test(type);
    return {
      status,
      headers: {
        ...Object.fromEntries(passed),
        ...(bytes.length > 0 && { 'content-type': isPassed ? type : otherType }),
      },
      body: bytes.toString('base64'),
    };
  }
}
