import {
  BadRequestException,
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Inject,
  NotFoundException,
  Post,
} from '@nestjs/common';
import { scopes } from '@stream-events/platforms';
import { ArrayMaxSize, IsArray, IsIn, IsOptional, IsUrl, MaxLength } from 'class-validator';
import { IsFilledText } from '../http/validation.js';
import { Applications, type Application } from './applications.js';
import { ConsentsService, type DeviceCode } from './consents.service.js';
import { Grants, type Consent } from './grants.js';
import { Tokens } from './tokens.js';

const scopeNames = scopes.map(({ scope }) => scope);

// Maximum text length, to bound memory. Longer than any value that the platform issues.
const maxTextLength = 255;

/** Body of `POST /simulator/applications`. An application without a secret is a public client. */
export class RegisterApplicationDto {
  @IsFilledText()
  @MaxLength(maxTextLength)
  client_id!: string;

  @IsOptional()
  @IsFilledText()
  @MaxLength(maxTextLength)
  client_secret?: string;

  @IsOptional()
  @IsFilledText()
  @MaxLength(maxTextLength)
  name?: string;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(10)
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true, require_tld: false }, { each: true })
  redirect_uris?: string[];
}

/** A user and an application. The application is optional if there is only one. */
export class ConsentDto {
  @IsFilledText()
  login!: string;

  @IsOptional()
  @IsFilledText()
  client_id?: string;
}

/** Body of `POST /simulator/grants`. */
export class GrantDto extends ConsentDto {
  @IsArray()
  @ArrayMaxSize(scopeNames.length)
  @IsIn(scopeNames, { each: true, message: 'scopes contains an unknown scope' })
  scopes!: string[];
}

/** Body of `POST /simulator/device-codes`. `allow` requires a `login`. */
export class DecideDeviceDto {
  @IsFilledText()
  user_code!: string;

  @IsIn(['allow', 'deny'])
  decision!: 'allow' | 'deny';

  @IsOptional()
  @IsFilledText()
  login?: string;
}

export type ApplicationView = ReturnType<typeof viewApplication>;
export type DeviceCodeView = ReturnType<typeof viewDeviceCode>;
export type GrantView = ReturnType<typeof viewGrant>;

/** Registers applications, makes users' decisions without a browser, and revokes tokens. */
@Controller('simulator')
export class SimulatedConsentsController {
  constructor(
    @Inject(Applications) private readonly applications: Applications,
    @Inject(ConsentsService) private readonly consents: ConsentsService,
    @Inject(Grants) private readonly grants: Grants,
    @Inject(Tokens) private readonly tokens: Tokens,
  ) {}

  @Get('applications')
  listApplications(): { applications: ApplicationView[] } {
    return { applications: this.applications.list().map(viewApplication) };
  }

  @Post('applications')
  register(
    @Body() { client_id, client_secret, name, redirect_uris }: RegisterApplicationDto,
  ): ApplicationView {
    const given = {
      ...(name !== undefined && { name }),
      ...(redirect_uris && { redirectUris: redirect_uris }),
    };
    const application = { clientId: client_id, secret: client_secret ?? null, ...given };
    return viewApplication(this.applications.register(application));
  }

  @Get('device-codes')
  listDeviceCodes(): { device_codes: DeviceCodeView[] } {
    return { device_codes: this.consents.listPending().map(viewDeviceCode) };
  }

  @Post('device-codes')
  @HttpCode(204)
  decide(@Body() { user_code, decision, login }: DecideDeviceDto): void {
    const code = this.consents.findPending(user_code);
    if (!code) throw new NotFoundException(`no device is waiting with the code ${user_code}`);
    if (decision === 'allow' && login === undefined)
      throw new BadRequestException('login is required for the decision allow');
    this.consents.decide(code, decision === 'allow' ? this.consents.findUser(login ?? '') : 'denied');
  }

  @Get('grants')
  listGrants(): { grants: GrantView[] } {
    return { grants: this.grants.list().map(({ consent, scopes }) => viewGrant(consent, scopes)) };
  }

  @Post('grants')
  @HttpCode(200)
  grant(@Body() request: GrantDto): GrantView {
    const consent = this.findConsent(request);
    this.grants.grant(consent, request.scopes);
    return viewGrant(consent, this.grants.scopesOf(consent));
  }

  /** Disconnects the application from the user. */
  @Delete('grants')
  @HttpCode(204)
  disconnect(@Body() request: ConsentDto): void {
    this.grants.revoke(this.findConsent(request));
  }

  /** Revokes all access tokens, to test how clients get new ones. */
  @Post('tokens/revoke')
  @HttpCode(200)
  revokeTokens(): { revoked: number } {
    return { revoked: this.tokens.revokeAll() };
  }

  private findConsent({ login, client_id }: ConsentDto): Consent {
    return { clientId: client_id ?? this.onlyApplication(), userId: this.consents.findUser(login).id };
  }

  private onlyApplication(): string {
    const [only, ...others] = this.applications.list();
    if (only === undefined || others.length > 0) {
      throw new BadRequestException('client_id is required unless there is exactly one application');
    }
    return only.clientId;
  }
}

/** Omits the secret. */
function viewApplication({ clientId, name, secret, redirectUris }: Application) {
  return { client_id: clientId, name, is_public: secret === null, redirect_uris: redirectUris };
}

function viewDeviceCode({ userCode, clientId, scopes }: DeviceCode) {
  return { user_code: userCode, client_id: clientId, scopes };
}

function viewGrant({ clientId, userId }: Consent, granted: string[]) {
  return { client_id: clientId, user_id: userId, scopes: granted };
}
