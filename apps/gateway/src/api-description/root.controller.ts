import { Controller, Get, Redirect } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { AllowAccess } from '../users/access.guard.js';

@ApiExcludeController()
@AllowAccess('public')
@Controller()
export class RootController {
  /** Leads people who open the printed address in a browser to the page that describes the API. */
  @Get()
  @Redirect('/api/docs/', 302)
  redirectToDocs(): void {
    // The decorator says it all.
  }
}
