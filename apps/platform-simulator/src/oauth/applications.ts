import { BadRequestException, ForbiddenException, Inject, Injectable } from '@nestjs/common';
import { CONFIG } from '@stream-events/service';
import type { SimulatorConfig } from '../platform-simulator.config.js';

export interface Application {
  readonly clientId: string;
  /** Shown on the consent pages. */
  readonly name: string;
  /** Null for a public client (FACTS.md §4.8), and for an unregistered application until it first uses a secret. */
  readonly secret: string | null;
  /**
   * Whether the control API has registered the application, or the configuration has set its secret. If not, the first secret that the
   * application uses becomes its secret.
   */
  readonly isRegistered: boolean;
  /** Addresses for the redirect after consent. If empty, any address of a gateway is allowed. */
  readonly redirectUris: readonly string[];
}

// Maximum number of applications that appear at their first use. Applies only without PLATFORM_CLIENT_ID.
const maxApplications = 1_000;

/** Without PLATFORM_CLIENT_ID, any unknown client id becomes an application at its first use. */
@Injectable()
export class Applications {
  private readonly applications = new Map<string, Application>();

  constructor(@Inject(CONFIG) private readonly config: SimulatorConfig) {
    const { PLATFORM_CLIENT_ID: clientId, PLATFORM_CLIENT_SECRET: secret = null } = config;
    if (clientId !== undefined) this.save({ clientId, secret, isRegistered: secret !== null });
  }

  /** Without PLATFORM_CLIENT_ID, creates the application if it is unknown and the limit allows it. */
  find(clientId: string): Application | undefined {
    const known = this.applications.get(clientId);
    const isOpen = this.config.PLATFORM_CLIENT_ID === undefined && this.applications.size < maxApplications;
    return known ?? (isOpen ? this.save({ clientId, secret: null, isRegistered: false }) : undefined);
  }

  /** @throws BadRequestException if the application is unknown, in the platform's wording */
  get(clientId: string): Application {
    const application = this.find(clientId);
    if (application === undefined) throw new BadRequestException('invalid client');
    return application;
  }

  /** Whether the application is registered or was used before. */
  isKnown(clientId: string): boolean {
    return this.applications.has(clientId);
  }

  /** Compares the secret with the registered one, or with the first one that the application used. */
  checkSecret(clientId: string, secret: string): void {
    const application = this.get(clientId);
    if (application.secret === null && !application.isRegistered) this.save({ ...application, secret });
    else if (application.secret !== secret) throw new ForbiddenException('invalid client secret');
  }

  register(application: Pick<Application, 'clientId' | 'secret'> & Partial<Application>): Application {
    return this.save({ ...application, isRegistered: true });
  }

  list(): Application[] {
    return [...this.applications.values()];
  }

  /** Accepts registered addresses. If none is registered, accepts any address of a gateway. */
  acceptsRedirect({ redirectUris }: Application, uri: string): boolean {
    if (redirectUris.length > 0) return redirectUris.includes(uri);
    const origins = this.config.SIMULATOR_CALLBACK_ORIGINS.map((url) => new URL(url).origin);
    return URL.canParse(uri) && origins.includes(new URL(uri).origin);
  }

  private save(
    given: Pick<Application, 'clientId' | 'secret' | 'isRegistered'> & Partial<Application>,
  ): Application {
    const application = { name: given.clientId, redirectUris: [], ...given };
    this.applications.set(given.clientId, application);
    return application;
  }
}
