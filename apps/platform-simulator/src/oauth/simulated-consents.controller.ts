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
import { Grants, type Consent } from '../grants/grants.js';
import { Applications, type Application } from './applications.js';
import { ConsentDto, DecideDeviceDto, GrantDto, RegisterApplicationDto } from './consent.dto.js';
import { ConsentsService } from './consents.service.js';

/** Omits the secret. */
interface ApplicationView {
  client_id: string;
  name: string;
  is_public: boolean;
  redirect_uris: readonly string[];
}

interface GrantView {
  client_id: string;
  user_id: string;
  scopes: string[];
}

/** A device whose user has not decided yet. */
interface DeviceCodeView {
  user_code: string;
  client_id: string;
  scopes: readonly string[];
}

/** Registers applications, and makes users' decisions without a browser. */
@Controller('simulator')
export class SimulatedConsentsController {
  constructor(
    @Inject(Applications) private readonly applications: Applications,
    @Inject(ConsentsService) private readonly consents: ConsentsService,
    @Inject(Grants) private readonly grants: Grants,
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
    const codes = this.consents.listPending();
    return {
      device_codes: codes.map(({ userCode, clientId, scopes }) => {
        return { user_code: userCode, client_id: clientId, scopes };
      }),
    };
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

function viewApplication({ clientId, name, secret, redirectUris }: Application): ApplicationView {
  return { client_id: clientId, name, is_public: secret === null, redirect_uris: redirectUris };
}

function viewGrant({ clientId, userId }: Consent, scopes: string[]): GrantView {
  return { client_id: clientId, user_id: userId, scopes };
}
