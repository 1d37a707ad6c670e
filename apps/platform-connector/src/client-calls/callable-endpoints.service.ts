import { Inject, Injectable } from '@nestjs/common';
import { ServiceError, type CallPlatformRequest } from '@stream-events/contracts';
import { callRefusal, deletedConduits, findApiEndpoint, type ApiEndpoint } from '@stream-events/platforms';
import { ConduitsRepository } from '../conduits/conduits.repository.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';

/** Finds the endpoint of a call. Refuses endpoints that need an extension's token, and calls that would disturb the service. */
@Injectable()
export class CallableEndpoints {
  constructor(
    private readonly conduits: ConduitsRepository,
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
  ) {}

  /** @throws ServiceError `not_found` for an unsupported endpoint, `forbidden` for a refused endpoint or call */
  async find(request: CallPlatformRequest): Promise<ApiEndpoint> {
    const found = findApiEndpoint(request.method, request.path);
    if (found.kind !== 'found')
      throw new ServiceError(
        'not_found',
        'This service does not support this endpoint of the platform’s API.',
      );
    const { endpoint } = found;
    const refusal = callRefusal(endpoint);
    if (refusal !== null) throw new ServiceError('forbidden', refusal);
    const deleted = deletedConduits(endpoint, new URLSearchParams(request.query));
    if (deleted.length > 0) await this.protectOwnConduit(deleted);
    return endpoint;
  }

  /**
   * Refuses to delete the conduit of this installation. Clients may delete other conduits: each one counts toward the platform's limit, and
   * the installation that created it may no longer exist.
   */
  private async protectOwnConduit(deleted: readonly string[]): Promise<void> {
    const clientId = this.settings.credentials?.clientId;
    const own = clientId === undefined ? null : await this.conduits.find(clientId);
    if (own?.id != null && deleted.includes(own.id.toLowerCase()))
      throw new ServiceError(
        'forbidden',
        `Conduit ${own.id} cannot be deleted, because this installation receives events through the conduit.`,
      );
  }
}
