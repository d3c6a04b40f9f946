import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PASSWORD, USER } from '../app.ts';
import { ofPyPI, runPython } from './registries.ts';

/** One person with an authenticator, and one whose account is locked by the test. */
export const PEOPLE = { careful: 'grace', locked: 'mary' };
/** Base 32, of that authenticator. */
export const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
/** Wrong passwords after which an account is locked. */
export const ATTEMPTS = 3;

const PROGRAM = `
import os, sys
import django
from django.conf import settings

settings.configure(
    DEBUG=False, ALLOWED_HOSTS=['127.0.0.1'], SECRET_KEY='of one test', ROOT_URLCONF=__name__, USE_TZ=True, STATIC_URL='/static/',
    LOGIN_URL='two_factor:login', LOGIN_REDIRECT_URL='/private', DEFAULT_AUTO_FIELD='django.db.models.AutoField',
    DATABASES={'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': os.environ['DATABASE']}},
    INSTALLED_APPS=['django.contrib.auth', 'django.contrib.contenttypes', 'django.contrib.sessions', 'django.contrib.messages',
                    'django.contrib.staticfiles', 'django_otp', 'django_otp.plugins.otp_static', 'django_otp.plugins.otp_totp',
                    'two_factor', 'axes'],
    MIDDLEWARE=['django.contrib.sessions.middleware.SessionMiddleware', 'django.middleware.common.CommonMiddleware',
                'django.middleware.csrf.CsrfViewMiddleware', 'django.contrib.auth.middleware.AuthenticationMiddleware',
                'django_otp.middleware.OTPMiddleware', 'django.contrib.messages.middleware.MessageMiddleware',
                'axes.middleware.AxesMiddleware'],
    TEMPLATES=[{'BACKEND': 'django.template.backends.django.DjangoTemplates', 'APP_DIRS': True, 'OPTIONS': {'context_processors': [
        'django.template.context_processors.request', 'django.contrib.auth.context_processors.auth',
        'django.contrib.messages.context_processors.messages']}}],
    AUTHENTICATION_BACKENDS=['axes.backends.AxesStandaloneBackend', 'django.contrib.auth.backends.ModelBackend'],
    AXES_FAILURE_LIMIT=${ATTEMPTS}, AXES_LOCKOUT_PARAMETERS=['username'])
django.setup()

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import include, path
from two_factor.urls import urlpatterns as two_factor_urls

@login_required
def private(request):
    return HttpResponse('<h1>Minutes of the board</h1>')

urlpatterns = [path('', include(two_factor_urls)), path('private', private), path('', lambda request: redirect('/private'))]

from django.core.management import execute_from_command_line
execute_from_command_line(sys.argv)
`;

const ADD_PEOPLE = `
import base64
from django.contrib.auth.models import User
from django_otp.plugins.otp_totp.models import TOTPDevice
for name in ${JSON.stringify([USER, PEOPLE.careful, PEOPLE.locked])}:
    User.objects.create_user(name, name + '@example.com', ${JSON.stringify(PASSWORD)})
key = base64.b32decode(${JSON.stringify(SECRET)}).hex()
TOTPDevice.objects.create(user=User.objects.get(username=${JSON.stringify(PEOPLE.careful)}), name='default', key=key, confirmed=True)
`;

/** django-two-factor-auth, with django-axes, which locks accounts. */
export const TWO_FACTOR = ofPyPI('two-factor', {
  prepare({ port, scratch }) {
    const program = join(scratch, 'website.py');
    writeFileSync(program, PROGRAM);
    const variables = { DATABASE: join(scratch, 'site.db') };
    const run = (...args: string[]) => {
      const call = runPython('two-factor', [program, ...args], variables);
      execFileSync(call.command, call.args, { stdio: 'pipe' });
    };
    run('migrate', '--verbosity', '0');
    run('shell', '--command', ADD_PEOPLE);
    const server = ['runserver', '--noreload', '--insecure', `127.0.0.1:${port}`];
    return runPython('two-factor', [program, ...server], variables);
  },
  readyPath: '/account/login/',
});
