import { Inject, Injectable } from '@nestjs/common';
import { CONFIG } from '@stream-events/service';
import type { SimulatorConfig } from '../platform-simulator.config.js';

/** An application that is registered on the platform. */
export interface Application {
  readonly clientId: string;
  /** The name on the consent pages. */
  readonly name: string;
  /** Null for a public client (docs/platform-facts.md §4.8). For an unregistered application, null until it first uses a secret. */
  readonly secret: string | null;
  /**
   * Whether the control API registered the application, or the configuration sets its secret. Otherwise, the first secret that the
   * application uses becomes valid.
   */
  readonly isRegistered: boolean;
  /** The addresses to which users may return after consent. An empty list allows any address of a gateway. */
  readonly redirectUris: readonly string[];
}

/** The fault of an application's credentials; null for valid credentials. */
export type CredentialsFault = 'unknown_client' | 'wrong_secret' | null;

// Without PLATFORM_CLIENT_ID, any application is accepted, up to this number.
const maxApplications = 1_000;

/** The applications. Without PLATFORM_CLIENT_ID, an unknown client id becomes an application at its first use. */
@Injectable()
export class Applications {
  private readonly applications = new Map<string, Application>();

  constructor(@Inject(CONFIG) private readonly config: SimulatorConfig) {
    const { PLATFORM_CLIENT_ID: clientId, PLATFORM_CLIENT_SECRET: secret = null } = config;
    if (clientId !== undefined) this.save({ clientId, secret, isRegistered: secret !== null });
  }

  /** Finds an application. Without PLATFORM_CLIENT_ID, creates an application for an unknown client id, up to the maximum number. */
  find(clientId: string): Application | undefined {
    const known = this.applications.get(clientId);
    const isOpen = this.config.PLATFORM_CLIENT_ID === undefined && this.applications.size < maxApplications;
    return known ?? (isOpen ? this.save({ clientId, secret: null, isRegistered: false }) : undefined);
  }

  /** Whether this application is registered or was used before. */
  isKnown(clientId: string): boolean {
    return this.applications.has(clientId);
  }

  /** Compares a secret with the registered secret, or with the first secret that the application used. */
  checkCredentials(clientId: string, secret: string): CredentialsFault {
    const application = this.find(clientId);
    if (application === undefined) return 'unknown_client';
    if (application.secret === null && !application.isRegistered) this.save({ ...application, secret });
    else if (application.secret !== secret) return 'wrong_secret';
    return null;
  }

  register(application: Pick<Application, 'clientId' | 'secret'> & Partial<Application>): Application {
    return this.save({ ...application, isRegistered: true });
  }

  list(): Application[] {
    return [...this.applications.values()];
  }

  /** Whether users may return to this address: a registered address or, if no address is registered, any address of a gateway. */
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
