import { Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { AccessTokens } from './access-tokens.js';

/** Controls the access tokens of the simulation. */
@Controller('simulator/tokens')
export class SimulatedTokensController {
  constructor(@Inject(AccessTokens) private readonly tokens: AccessTokens) {}

  /** Ends every access token, as if the application had been compromised. */
  @Post('revoke')
  @HttpCode(200)
  revokeAll(): { revoked: number } {
    return { revoked: this.tokens.revokeAll() };
  }
}
