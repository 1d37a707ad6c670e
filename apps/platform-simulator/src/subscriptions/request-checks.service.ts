import { BadRequestException, ForbiddenException, GoneException, Inject, Injectable } from '@nestjs/common';
import { findEventType, type EventType } from '@stream-events/platforms';
import { Type } from 'class-transformer';
import { IsBoolean, IsObject, IsOptional, ValidateNested } from 'class-validator';
import { ConduitsService } from '../conduits/conduits.service.js';
import { IsFilledText } from '../http/validation.js';
import { Grants } from '../oauth/grants.js';
import type { Owner, TokenOwner } from '../oauth/tokens.js';
import { TransportDto, type Transport } from '../transports/transport.js';
import { Transports, type SocketTransport } from '../transports/transports.service.js';
import type { Condition } from '../world/payloads/scene.js';
import { World } from '../world/world.js';
import { costOf, findConditionFault, isWithdrawn, listRequiredGrants } from './event-type.js';
import { channelOf, usersIn } from './subscription.js';

/** Body of `POST /helix/eventsub/subscriptions`. event-type.ts checks the condition, because its keys depend on the type. */
export class CreateSubscriptionDto {
  @IsFilledText()
  type!: string;

  @IsFilledText()
  version!: string;

  @IsObject()
  condition!: Record<string, unknown>;

  @IsObject()
  @ValidateNested()
  @Type(() => TransportDto)
  transport!: TransportDto;

  @IsOptional()
  @IsBoolean()
  is_batching_enabled?: boolean;
}

/** A valid request. The limits can still reject it. */
export interface CheckedRequest {
  condition: Condition;
  cost: number;
  transport: Transport;
}

/** Checks everything in a subscription request except the limits, and creates the transport. */
@Injectable()
export class RequestChecks {
  constructor(
    @Inject(World) private readonly world: World,
    @Inject(Grants) private readonly grants: Grants,
    @Inject(ConduitsService) private readonly conduits: ConduitsService,
    @Inject(Transports) private readonly transports: Transports,
  ) {}

  check(caller: TokenOwner, request: CreateSubscriptionDto): CheckedRequest {
    checkTokenKind(caller, request.transport.method);
    const row = findRow(request);
    const condition = this.checkCondition(row, request);
    this.checkApplication(caller, condition);
    this.checkConsent(caller, row, condition);
    const { clientId } = caller;
    const hasAuthorized = usersIn(condition).some((userId) =>
      this.grants.hasAuthorized({ clientId, userId }),
    );
    const transport = this.createTransport(caller, request.transport, condition);
    return { condition, cost: costOf(row, hasAuthorized), transport };
  }

  private createTransport(owner: Owner, requested: TransportDto, condition: Condition): Transport {
    switch (requested.method) {
      case 'webhook':
        return this.transports.webhook(requested);
      case 'websocket':
        return this.useSocket(owner, requested.session_id);
      case 'conduit':
        return this.conduits.transport(owner.clientId, requested.conduit_id, channelOf(condition) ?? '');
    }
  }

  /** Rejects a second user, because a socket can serve only one user (FACTS.md §2). */
  private useSocket({ clientId, userId }: Owner, sessionId: string): SocketTransport {
    const transport = this.transports.socket(sessionId);
    const owner = (transport.session.owner ??= { clientId, userId });
    if (owner.clientId === clientId && owner.userId === userId) return transport;
    throw new BadRequestException('websocket transport cannot have subscriptions created by different users');
  }

  private checkCondition(
    row: EventType,
    { type, condition, is_batching_enabled }: CreateSubscriptionDto,
  ): Condition {
    // Client libraries send keys without a value for what they leave out.
    const filled = Object.fromEntries(Object.entries(condition).filter(([, value]) => value !== ''));
    const fault = findConditionFault(row, filled);
    if (fault !== null) throw new BadRequestException(fault);
    if (type === 'drop.entitlement.grant' && is_batching_enabled !== true) {
      throw new BadRequestException('is_batching_enabled must be true for drop.entitlement.grant');
    }
    const known = filled as Condition; // Safe cast: findConditionFault has checked that all values are text.
    const gone = usersIn(known).find((id) => this.world.users.wasRemoved(id));
    if (gone !== undefined) throw new BadRequestException(`there is no user ${gone}`);
    return known;
  }

  /** Only the application itself may subscribe to events about itself and its conduits (FACTS.md §3). */
  private checkApplication({ clientId }: TokenOwner, { client_id, conduit_id }: Condition): void {
    if (client_id !== undefined && client_id !== clientId) refuse();
    if (conduit_id !== undefined) this.conduits.get(clientId, conduit_id);
  }

  /**
   * Checks that users have granted the required scopes. A user access token must have the scopes itself, and belong to the user who reads
   * (FACTS.md §2, §4.5).
   */
  private checkConsent(
    { clientId, userId: tokenUser, scopes }: TokenOwner,
    row: EventType,
    condition: Condition,
  ): void {
    const isGranted = listRequiredGrants(row, condition, tokenUser === null ? 'app' : 'user').every(
      ({ userId, oneOf }) =>
        tokenUser === null
          ? this.grants.hasOneOf({ clientId, userId }, oneOf)
          : userId === tokenUser && oneOf.some((scope) => scopes.includes(scope)),
    );
    if (!isGranted) refuse();
  }
}

function refuse(): never {
  throw new ForbiddenException('subscription missing proper authorization');
}

/** Sockets need a user access token. Webhooks and conduits need an app access token (FACTS.md §4.5). */
function checkTokenKind({ userId }: TokenOwner, method: string): void {
  if ((method === 'websocket') === (userId !== null)) return;
  throw new BadRequestException(
    method === 'webhook'
      ? 'auth must use app access token to create webhook subscription'
      : 'invalid transport and auth combination',
  );
}

function findRow({ type, version, transport }: CreateSubscriptionDto): EventType {
  if (isWithdrawn(type, version)) {
    throw new GoneException(`version ${version} of subscription type ${type} was withdrawn`);
  }
  const row = findEventType(type, version);
  if (!row) throw new BadRequestException(`unknown subscription type: ${type} version ${version}`);
  if (row.transports.includes(transport.method)) return row;
  throw new BadRequestException(`${type} is not available with the transport ${transport.method}`); // FACTS.md §5
}
