import { Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { AccessTokens } from './access-tokens.js';

@Controller('simulator/tokens')
export class SimulatedTokensController {
  constructor(@Inject(AccessTokens) private readonly tokens: AccessTokens) {}

  /** Revokes all access tokens, to test how clients get new ones. */
  @Post('revoke')
  @HttpCode(200)
  revokeAll(): { revoked: number } {
    return { revoked: this.tokens.revokeAll() };
  }
}
