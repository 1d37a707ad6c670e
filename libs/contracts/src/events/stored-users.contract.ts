import { ArrayMaxSize, IsArray, IsBoolean, IsInt, IsOptional, IsString, Min } from 'class-validator';
import { defineContract, type Contract } from '../contract.js';
import { IsText } from '../text.js';

/** Maximum number of ids on a page of stored users. */
export const maxStoredUsersPage = 1_000;

export class ListStoredUsersRequest {
  /** The last id of the previous page. Without it, the list begins. */
  @IsOptional()
  @IsString()
  after?: string;
}

export class ListStoredUsersReply {
  /** Ids of platform users, in order. May contain other values. A page with fewer than `maxStoredUsersPage` ids is the last one. */
  @IsArray()
  @ArrayMaxSize(maxStoredUsersPage)
  @IsString({ each: true })
  ids!: string[];
}

export class EraseStoredUserRequest {
  @IsText(1, 255)
  platformUserId!: string;

  /** Only counts the records. */
  @IsBoolean()
  isDryRun!: boolean;
}

/** Number of records about the user, by kind. Kinds that the service does not store are 0. */
export class EraseStoredUserReply {
  @IsInt()
  @Min(0)
  pictures!: number;

  @IsInt()
  @Min(0)
  replays!: number;

  @IsInt()
  @Min(0)
  rehearsals!: number;
}

/** Requests of an erasure to a service that stores records about platform users outside of events. */
export interface StoredUserContracts {
  /** Lists the users with records. Needed when only the hash of the user's id is known. */
  list: Contract<ListStoredUsersRequest, ListStoredUsersReply>;
  /** Erases the records about one user. */
  erase: Contract<EraseStoredUserRequest, EraseStoredUserReply>;
}

function storedUsersOf(service: string): StoredUserContracts {
  const shared = { errors: [], timeoutMs: 10_000 };
  return {
    list: defineContract({
      subject: `request.${service}.list-stored-users`,
      request: ListStoredUsersRequest,
      reply: ListStoredUsersReply,
      ...shared,
    }),
    erase: defineContract({
      subject: `request.${service}.erase-stored-user`,
      request: EraseStoredUserRequest,
      reply: EraseStoredUserReply,
      ...shared,
    }),
  };
}

/** The platform connector stores pictures of users. */
export const connectorStoredUsers = storedUsersOf('platform-connector');

/** The gateway stores replays and rehearsals, whose filters can name users. */
export const gatewayStoredUsers = storedUsersOf('gateway');
