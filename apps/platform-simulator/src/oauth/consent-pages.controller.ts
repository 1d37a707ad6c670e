import { BadRequestException, Body, Controller, Get, Inject, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Applications, type Application } from './applications.js';
import { pageHeaders, renderCodePage, renderConsentPage, renderOutcomePage } from './consent-page.js';
import { ConsentsService, type AuthorizationRequest } from './consents.service.js';
import { readOptional, readScopes, readText, type Parameters } from './parameters.js';

/**
 * The page on which a user authorizes an application (FACTS.md §4.1), and the page on which a user connects a device by its
 * code (§4.7).
 */
@Controller()
export class ConsentPagesController {
  constructor(
    @Inject(Applications) private readonly applications: Applications,
    @Inject(ConsentsService) private readonly consents: ConsentsService,
  ) {}

  @Get('oauth2/authorize')
  showAuthorization(@Query() query: Parameters, @Res() reply: FastifyReply): void {
    const { application, clientId, redirectUri, scopes } = this.readAuthorization(query);
    const page = renderConsentPage({
      action: '/oauth2/authorize',
      application: application.name,
      scopes,
      logins: this.consents.suggestLogins(),
      fields: {
        client_id: clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: scopes.join(' '),
        state: readOptional(query, 'state') ?? '',
      },
    });
    void reply.headers(pageHeaders).send(page);
  }

  /** Redirects to the application with the code or the denial. Returns `state` unchanged. */
  @Post('oauth2/authorize')
  authorize(@Body() form: Parameters, @Res() reply: FastifyReply): void {
    const request = this.readAuthorization(form);
    const state = readOptional(form, 'state');
    const answer =
      readText(form, 'decision') === 'allow'
        ? {
            code: this.consents.authorize(request, this.consents.findUser(readText(form, 'login'))),
            scope: request.scopes.join(' '),
          }
        : { error: 'access_denied', error_description: 'The user denied you access' };
    const url = new URL(request.redirectUri);
    for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
    if (state !== undefined) url.searchParams.set('state', state);
    void reply.status(303).header('location', url.href).send();
  }

  /** Checks the parameters before showing a page or redirecting. */
  private readAuthorization(parameters: Parameters): AuthorizationRequest & { application: Application } {
    const clientId = readText(parameters, 'client_id');
    const application = this.applications.get(clientId);
    const redirectUri = readText(parameters, 'redirect_uri');
    if (!this.applications.acceptsRedirect(application, redirectUri)) {
      throw new BadRequestException('Parameter redirect_uri does not match registered URI');
    }
    if (readText(parameters, 'response_type') !== 'code') {
      throw new BadRequestException('the simulator supports only the response_type code');
    }
    return { application, clientId, redirectUri, scopes: readScopes(readOptional(parameters, 'scope')) };
  }

  @Get('activate')
  showDevice(@Query('device-code') userCode: string | undefined, @Res() reply: FastifyReply): void {
    void reply.headers(pageHeaders).send(this.renderDevice(userCode));
  }

  @Post('activate')
  decideDevice(@Body() form: Parameters, @Res() reply: FastifyReply): void {
    const code = this.consents.findPending(readText(form, 'user_code'));
    if (!code) throw new BadRequestException('the code has expired or was used before');
    const isAllowed = readText(form, 'decision') === 'allow';
    this.consents.decide(code, isAllowed ? this.consents.findUser(readText(form, 'login')) : 'denied');
    void reply.headers(pageHeaders).send(renderOutcomePage(isAllowed, this.nameOf(code.clientId)));
  }

  private renderDevice(userCode: string | undefined): string {
    if (!userCode) return renderCodePage(null);
    const code = this.consents.findPending(userCode);
    if (!code) return renderCodePage('This code has expired, was used before, or has a typing error.');
    return renderConsentPage({
      action: '/activate',
      application: this.nameOf(code.clientId),
      scopes: code.scopes,
      logins: this.consents.suggestLogins(),
      fields: { user_code: code.userCode },
      userCode: code.userCode,
    });
  }

  private nameOf(clientId: string): string {
    return this.applications.find(clientId)?.name ?? clientId;
  }
}
