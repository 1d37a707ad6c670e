import { IsIn, IsOptional, IsString, Matches } from 'class-validator';
import { defineContract } from '../contract.js';

/** Pictures of platform users and of stream categories. */
export const pictureKinds = ['user', 'category'] as const;
export type PictureKind = (typeof pictureKinds)[number];

/** Maximum size of a picture. As base64, it must fit into a NATS message (1 MiB). */
export const maxPictureBytes = 512 * 1024;

/** Pattern of ids on the platform. */
export const platformIdPattern = /^[0-9A-Za-z_-]{1,64}$/;

export class GetPictureRequest {
  @IsIn(pictureKinds)
  kind!: PictureKind;

  /** The user's or category's id on the platform. */
  @Matches(platformIdPattern)
  id!: string;

  /** Hash of the picture that the caller already has, or null. */
  @IsOptional()
  @IsString()
  knownHash!: string | null;
}

export class GetPictureReply {
  /** Changes when the picture changes. */
  @IsString()
  hash!: string;

  @IsString()
  mediaType!: string;

  /** Bytes as base64; null if the caller already has this picture. */
  @IsOptional()
  @IsString()
  bytes!: string | null;
}

/** Returns a picture from the cache or the platform. `not_found`: the platform has no such picture. */
export const getPicture = defineContract({
  subject: 'request.platform-connector.get-picture',
  request: GetPictureRequest,
  reply: GetPictureReply,
  errors: ['not_found'],
  // Longer than a lookup plus a download.
  timeoutMs: 11_000,
});
