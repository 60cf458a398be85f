package loadgen

import "strings"

// commonWords are short, so that most tokenizers have each as one token.
var commonWords = strings.Fields(`
able about above across act add after again age ago air all almost alone along also always among and animal
answer any apple area arm around art ask away back bad bag ball bank base bath bear beat bed been before begin
behind bell below best better between big bird bit black blood blue board boat body book born both bottle bottom
box boy bread break bridge bright bring brother brown build burn bus busy but buy cake call came camp can car card
care carry case cat catch cause cell center chair change child city class clean clear climb clock close cloud coat
cold color come cook cool copy corn corner cost could count country cover cow cream cross cry cup cut dance dark
day deep desk dinner doctor dog door double down draw dream dress drink drive drop dry duck dust each ear early
earth east easy eat edge egg eight end enough even ever every eye face fact fall family far farm fast father feel
feet few field fight fill find fine finger fire first fish five floor flower fly follow food foot forest forget
form four free fresh friend from front fruit full game garden gate gave girl give glass gold good grass great
green ground group grow hair half hall hand happy hard hat have head hear heart heat heavy help high hill hold
hole home horse hot hour house how hundred ice idea inside island join jump keep key kind king kitchen knee know
lake land large last late laugh law lead leaf learn leave left leg letter life light line list listen little live
long look lose lot loud love low lunch machine made make man many map mark market match meal mean meat meet
middle milk mind minute money month moon more morning most mother mountain mouth move much music name near neck
need never new next night nine noise north nose note nothing now number ocean off office often oil old once one
only open order other out over own page paint paper park part party past pay pen people person picture piece
place plan plant plate play point poor power press pretty pull push put queen quick quiet rain reach read ready
red rest rice rich ride right ring river road rock roof room rose round rule run salt same sand saw school sea
seat second see seed seem sell send seven shade shape sharp ship shirt shoe shop short show sick side sign silver
simple sing sister sit six size skin sky sleep slow small smile snow soft some song soon sound south space speak
spring stand star start stay step stone stop store storm story street strong such sugar summer sun sure sweet
swim table tail take talk tall taste tea teach team tell ten test than thank that then there thick thin thing
think third three through time tire today top touch town train travel tree trip true try turn twelve two uncle
under until use very visit voice wait walk wall want warm wash watch water way wear week west wet wheel when
where white who wide wild will wind window winter wish with woman wood word work world write year yellow yes
young your zero`)
