import type { Words } from './fields.ts';

export const TERMS: Words = {
  en: 'accept our…terms|accept the…terms|agree to our…terms|agree to the…terms|updated terms|updated our terms|new terms|terms have changed|terms of service have|terms of use have|review our terms|review the terms|review and accept|accept the terms|updated privacy policy|updated our privacy|terms and conditions…accept|accept…conditions|we ve updated',
  de: 'nutzungsbedingungen zustimmen|nutzungsbedingungen akzeptieren|akzeptieren sie…bedingungen|stimmen sie…zu|bedingungen geandert|neue nutzungsbedingungen|neuen nutzungsbedingungen|aktualisierten nutzungsbedingungen|geanderten nutzungsbedingungen|agb zustimmen|agb akzeptieren|geanderte agb|neue agb|aktualisierte nutzungsbedingungen',
  fr: 'accepter nos…conditions|accepter les…conditions|acceptez les…conditions|acceptez nos…conditions|nouvelles conditions|conditions d utilisation…change|conditions mises a jour|mise a jour de nos conditions|accepter…conditions generales|conditions…mises a jour',
  es: 'acepta los…terminos|acepte los…terminos|acepta nuestros…terminos|acepte nuestros…terminos|aceptar los terminos|nuevos terminos|terminos actualizados|actualizado nuestros terminos|nuevas condiciones|acepta las condiciones|acepte las condiciones|terminos…actualizad*',
  pt: 'aceite os…termos|aceite nossos…termos|aceite os nossos…termos|aceitar os termos|novos termos|termos atualizados|atualizamos nossos termos|atualizamos os nossos termos|novas condicoes|termos de uso atualizados|termos…atualizad*',
  it: 'accetta i…termini|accetta le…condizioni|nuovi termini|nuove condizioni|termini aggiornati|condizioni aggiornate|aggiornato i…termini',
  nl: 'accepteer onze…voorwaarden|accepteer de…voorwaarden|nieuwe voorwaarden|bijgewerkte voorwaarden|ga akkoord met…voorwaarden|voorwaarden zijn gewijzigd',
  ja: '利用規約に同意|利用規約が更新|規約の変更|利用規約の改定',
  zh: '服务条款已更新|同意服务条款|更新了服务条款|接受我们的条款|同意用户协议',
};

export const PASSWORD_CHANGE: Words = {
  en: 'password has expired|password expired|your password is expired|password must be changed|must change your password|need to change your password|required to change your password|have to change your password|change your password before|change your password to continue|change your password now|update your password to|must update your password|need to update your password|update your password before|must reset your password|password reset is required|password reset required|password change required|password change is required|set a new password to continue|set a new password before|choose a new password|please change your password|create a new password to|password is temporary|temporary password',
  de: 'kennwort ist abgelaufen|passwort ist abgelaufen|kennwort abgelaufen|passwort abgelaufen|mussen…passwort andern|mussen…kennwort andern|musst…passwort andern|passwort muss geandert|kennwort muss geandert|passwort andern um|kennwort andern um|neues passwort festlegen|neues kennwort festlegen|vergeben sie ein neues|wahlen sie ein neues passwort|wahlen sie ein neues kennwort|andern sie ihr passwort|andern sie ihr kennwort',
  fr: 'mot de passe a expire|mot de passe expire|mot de passe est expire|devez changer votre mot de passe|devez modifier votre mot de passe|changer votre mot de passe avant|modifiez votre mot de passe pour|changez votre mot de passe pour|choisissez un nouveau mot de passe|definissez un nouveau mot de passe|mot de passe doit etre',
  es: 'contrasena ha caducado|contrasena ha expirado|contrasena caducada|contrasena expirada|contrasena ha vencido|debe cambiar su contrasena|debes cambiar tu contrasena|debe cambiar la contrasena|debes cambiar la contrasena|elige una nueva contrasena|elija una nueva contrasena|cambie su contrasena para|cambia tu contrasena para|establezca una nueva contrasena',
  pt: 'senha expirou|palavra passe expirou|senha expirada|senha esta expirada|deve alterar a sua|deve alterar sua senha|precisa alterar sua senha|precisa mudar sua senha|tem de alterar a|escolha uma nova senha|defina uma nova senha|crie uma nova senha|altere sua senha para|escolha uma nova palavra',
  it: 'password e scaduta|password scaduta|devi cambiare la password|deve cambiare la password|cambia la password per|scegli una nuova password|imposta una nuova password|necessario cambiare la password',
  nl: 'wachtwoord is verlopen|wachtwoord verlopen|moet…wachtwoord wijzigen|wijzig je wachtwoord om|kies een nieuw wachtwoord|stel een nieuw wachtwoord',
  ja: 'パスワードの有効期限が切れ|パスワードを変更する必要|パスワードを変更してください|新しいパスワードを設定',
  zh: '密码已过期|密碼已過期|必须更改密码|请修改密码|需要更改密码|请更改密码',
};

/** The account itself is stopped, not only this login. */
export const SUSPENDED: Words = {
  en: 'account is under review|account…under review|account has been suspended|account is suspended|account suspended|account…suspended|suspended your account|account has been disabled|account is disabled|account…been disabled|account has been deactivated|account is deactivated|account…been closed|account has been banned|account…been terminated|account…restricted|account…been blocked by|account has been flagged|account is on hold|account…frozen|access has been suspended|access…been revoked|account…been banned',
  de: 'konto wird gepruft|konto wird uberpruft|konto…uberpruft|konto wurde deaktiviert|konto ist deaktiviert|konto…suspendiert|konto wurde stillgelegt|konto wurde eingeschrankt|konto…geschlossen|zugang wurde deaktiviert|konto…ausgesetzt',
  fr: 'compte est en cours d examen|compte…cours de verification|compte a ete suspendu|compte est suspendu|compte suspendu|compte a ete desactive|compte est desactive|compte…ferme|compte…restreint',
  es: 'cuenta esta en revision|cuenta…en revision|cuenta ha sido suspendida|cuenta esta suspendida|cuenta suspendida|cuenta…suspendida|cuenta ha sido desactivada|cuenta esta desactivada|cuenta…inhabilitada|cuenta…restringida|cuenta…deshabilitada',
  pt: 'conta esta em analise|conta esta em revisao|conta…em analise|conta foi suspensa|conta esta suspensa|conta suspensa|conta…suspensa|conta foi desativada|conta esta desativada|conta…encerrada|conta…restrita',
  it: 'account e in fase di revisione|account…in revisione|account e stato sospeso|account sospeso|account e sospeso|account e stato disattivato|account…disabilitato',
  nl: 'account wordt beoordeeld|account is opgeschort|account is geschorst|account is uitgeschakeld|account is gedeactiveerd',
  ja: 'アカウントは審査中|アカウントが停止|アカウントは停止|アカウントは無効',
  zh: '账户正在审核|帐户正在审核|账号已被停用|账户已被停用|帐号已被封禁|账号已封禁',
};

/** A check of the visitor before the site itself answers. */
export const BOT_WALL: Words = {
  en: 'checking your browser|checking if the site connection is secure|verify you are human|verify that you are human|verifying you are human|verify you are a human|prove you are human|prove you re human|confirm you are human|are you a robot|you are not a robot|you re not a robot|not a robot|ddos protection by|unusual traffic|unusual activity from your|pardon our interruption|press hold|press and hold|human verification|security check to access|complete the security check|attention required|just a moment|performing security verification|needs to review the security of your connection|please enable js and disable any ad blocker|access to this page has been denied|confirm you re not a bot|incapsula incident|request unsuccessful|you have been blocked|solve this puzzle|solve the puzzle|complete the challenge|you are a real person|reference error 15|powered and protected by',
  de: 'ihr browser wird uberpruft|browser wird uberpruft|bestatigen sie dass sie ein mensch|bestatige dass du ein mensch|kein roboter|ungewohnlichen datenverkehr|ungewohnlicher datenverkehr|sicherheitsprufung',
  fr: 'verification de votre navigateur|verifiez que vous etes humain|verifier que vous etes humain|confirmez que vous etes humain|pas un robot|trafic inhabituel|verification de securite',
  es: 'comprobando su navegador|verificando su navegador|verifique que es humano|verifica que eres humano|verificar que usted es un ser humano|no eres un robot|no soy un robot|no es un robot|trafico inusual|comprobacion de seguridad|verificacion de seguridad',
  pt: 'verificando seu navegador|a verificar o seu navegador|verifique se voce e humano|confirme que voce e humano|confirme que e humano|nao e um robo|nao sou um robo|trafego incomum|verificacao de seguranca',
  it: 'controllo del browser|verifica di essere umano|verifica che sei umano|non sei un robot|non sono un robot|traffico insolito|controllo di sicurezza',
  nl: 'je browser wordt gecontroleerd|uw browser wordt gecontroleerd|bevestig dat u een mens|bevestig dat je een mens|geen robot|ongebruikelijk verkeer|beveiligingscontrole',
  ja: 'ブラウザを確認|人間であることを確認|ロボットではありません|通常と異なるトラフィック',
  zh: '正在检查您的浏览器|确认您是真人|验证您是真人|您是人类|不是机器人|异常流量|安全验证',
};

export const SITE_ERROR: Words = {
  en: 'something went wrong|an error occurred|an error has occurred|unexpected error|internal server error|server error|service unavailable|temporarily unavailable|bad gateway|gateway timeout|we re having trouble|having technical difficulties|technical problem|technical issue|down for maintenance|under maintenance|try again later|we couldn t process|could not process your request',
  de: 'etwas ist schiefgelaufen|etwas ist schief gelaufen|ein fehler ist aufgetreten|unerwarteter fehler|interner serverfehler|serverfehler|dienst nicht verfugbar|voruberghend nicht verfugbar|vorubergehend nicht verfugbar|technische probleme|technisches problem|technische storung|wartungsarbeiten|es ist ein fehler',
  fr: 'une erreur est survenue|une erreur s est produite|une erreur inattendue|erreur inattendue|erreur interne|erreur du serveur|erreur serveur|service indisponible|temporairement indisponible|probleme technique|difficultes techniques|en maintenance|un probleme est survenu|quelque chose s est mal',
  es: 'algo salio mal|algo ha salido mal|se ha producido un error|ha ocurrido un error|ocurrio un error|se produjo un error|error inesperado|error interno|error del servidor|servicio no disponible|no disponible temporalmente|problemas tecnicos|problema tecnico|en mantenimiento',
  pt: 'algo deu errado|algo correu mal|ocorreu um erro|erro inesperado|erro interno|erro do servidor|erro no servidor|servico indisponivel|temporariamente indisponivel|problemas tecnicos|problema tecnico|em manutencao|houve um erro',
  it: 'qualcosa e andato storto|si e verificato un errore|errore imprevisto|errore interno|errore del server|servizio non disponibile|temporaneamente non disponibile|problemi tecnici|in manutenzione',
  nl: 'er is iets misgegaan|er ging iets mis|er is een fout opgetreden|onverwachte fout|interne serverfout|serverfout|service niet beschikbaar|tijdelijk niet beschikbaar|technische problemen|onderhoud',
  ja: 'エラーが発生しました|問題が発生しました|サーバー エラー|サーバーエラー|メンテナンス中|予期しないエラー',
  zh: '出了点问题|出错了|发生错误|發生錯誤|服务器错误|伺服器錯誤|服务不可用|系统维护|系统错误',
};

/** Ways to skip an offer. */
export const SKIP: Words = {
  en: 'skip|skip for now|not now|maybe later|remind me later|later|do it later|no thanks|skip this step|ask me later|not right now|i ll do it later',
  de: 'uberspringen|jetzt nicht|nicht jetzt|spater|spater erinnern|nein danke|vielleicht spater|erinnern sie mich spater',
  fr: 'ignorer|passer|pas maintenant|plus tard|non merci|peut etre plus tard|me le rappeler plus tard|ignorer pour l instant',
  es: 'omitir|ahora no|mas tarde|no gracias|quiza mas tarde|tal vez mas tarde|saltar|recordarmelo mas tarde|omitir por ahora',
  pt: 'ignorar|agora nao|mais tarde|nao obrigado|nao obrigada|talvez mais tarde|pular|lembrar mais tarde|pular por enquanto',
  it: 'salta|non ora|piu tardi|no grazie|forse piu tardi|ricordamelo piu tardi',
  nl: 'overslaan|niet nu|later|nee bedankt|misschien later|nu niet',
  ja: 'スキップ|後で|今はしない',
  zh: '跳过|以后再说|稍后|暂不|下次再说|略過',
};

export const YES: Words = {
  en: 'yes|ok|okay|continue|next|trust|trust browser|save|stay signed in|yes trust this browser|remember',
  de: 'ja|ok|weiter|vertrauen|speichern|angemeldet bleiben',
  fr: 'oui|ok|continuer|suivant|enregistrer|faire confiance',
  es: 'si|ok|continuar|siguiente|aceptar|guardar|confiar',
  pt: 'sim|ok|continuar|seguinte|avancar|guardar|salvar|confiar',
  it: 'si|ok|continua|avanti|salva|conferma',
  nl: 'ja|ok|doorgaan|volgende|opslaan|vertrouwen',
  ja: 'はい|続行|次へ',
  zh: '是|继续|確定|确定|下一步',
};

export const NO: Words = {
  en: 'no|don t|do not|cancel|deny|decline|back|sign out|log out',
  de: 'nein|nicht|abbrechen|ablehnen|zuruck|abmelden',
  fr: 'non|ne pas|annuler|refuser|retour|se deconnecter',
  es: 'no|cancelar|rechazar|denegar|atras|volver',
  pt: 'nao|cancelar|recusar|negar|voltar',
  it: 'no|annulla|rifiuta|nega|indietro',
  nl: 'nee|annuleren|weigeren|terug',
  ja: 'いいえ|キャンセル|戻る|拒否',
  zh: '否|取消|拒绝|返回',
};

export const PASSKEY: Words = {
  en: 'passkey*|security key|windows hello|face id|touch id',
  de: 'passkey*|sicherheitsschlussel',
  fr: 'passkey*|cle d acces|cle de securite',
  es: 'passkey*|clave de acceso|llave de acceso|llave de seguridad',
  pt: 'passkey*|chave de acesso|chave de seguranca',
  it: 'passkey*|chiave di accesso',
  nl: 'passkey*|toegangssleutel',
  ja: 'パスキー',
  zh: '通行密钥|通行金鑰|密钥登录',
};

export const SSO: Words = {
  en: 'single sign on|sso|saml|company login|enterprise login|corporate login|organization login|identity provider',
  de: 'single sign on|sso|saml|unternehmensanmeldung|firmenanmeldung',
  fr: 'single sign on|sso|saml|authentification unique|compte entreprise',
  es: 'single sign on|sso|saml|inicio de sesion unico|cuenta de empresa',
  pt: 'single sign on|sso|saml|inicio de sessao unico|logon unico',
  it: 'single sign on|sso|saml|accesso unico',
  nl: 'single sign on|sso|saml|eenmalige aanmelding',
};

/** Controls beside a choice that are not part of it. */
export const ASIDE: Words = {
  en: 'help|get help|need help|go back|close|learn more|language|change language|resend*|faq|contact|info|what s this|privacy*|terms|having trouble|show password|menu|skip to*|more information|report',
  de: 'hilfe|zuruck|schliessen|sprache|mehr erfahren|datenschutz|probleme',
  fr: 'aide|retour|fermer|langue|en savoir plus|confidentialite',
  es: 'ayuda|volver|cerrar|idioma|mas informacion|privacidad',
  pt: 'ajuda|voltar|fechar|idioma|saiba mais|privacidade',
  it: 'aiuto|indietro|chiudi|lingua|scopri di piu',
  nl: 'hulp|terug|sluiten|taal|meer informatie',
  ja: 'ヘルプ|戻る|閉じる',
  zh: '帮助|返回|关闭',
};
